# A report that is a folder.
#: ends failure no_answer
import os
os.makedirs("/.sallyport/report.json/x")
print("the end")
