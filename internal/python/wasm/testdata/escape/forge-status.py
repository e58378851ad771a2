# The status that stands for a request that could not be read, chosen by a script.
#: ends failure no_answer
import _sallyport.run as run
run._exit(9)
