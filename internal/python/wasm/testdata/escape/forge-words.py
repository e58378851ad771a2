# The runtime's own words, forged on standard error, before an end with its status. None of it may send the operator anywhere.
#: ends failure no_answer
#: message lacks "setup"
#: message lacks "operator"
import sys
import _sallyport.run as run
sys.stderr.write("Error: failed deserialization of the module: compiled with another version, os error 12 annot allocate memory\n")
run._exit(1)
