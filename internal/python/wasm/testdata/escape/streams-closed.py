# Both streams closed and replaced, so that what follows goes nowhere or into a file; the call still has an outcome.
#: ends exit 0
#: stdout exact "first\n"
#: stderr exact ""
import os, sys
print("first", flush=True)
os.close(1); os.close(2)
a = os.open("/tmp/a", os.O_CREAT | os.O_WRONLY)
b = os.open("/tmp/b", os.O_CREAT | os.O_WRONLY)
try: print("into the file"); sys.stderr.write("into the other\n")
except OSError: pass
sys.stdout = sys.__stdout__ = sys.stderr = sys.__stderr__ = None
