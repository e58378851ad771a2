# An abort after more output than is kept, so that the runtime's report is itself cut.
#: limit output 200
#: ends failure crashed
#: stderr has "truncated"
#: stderr lacks "wasm"
import os, sys
sys.stderr.write("x" * 100_000)
os.abort()
