module sallyport.dev/sallyport

go 1.26
