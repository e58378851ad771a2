# An abort in the middle of a line: the runtime's report follows on the same line, and must not be shown.
#: ends failure crashed
#: stderr exact "half a line"
import os, sys
sys.stderr.write("half a line")
os.abort()
