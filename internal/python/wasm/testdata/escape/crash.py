# A crash that CPython itself reports at length.
#: ends failure crashed
#: stderr lacks "wasm"
import faulthandler
faulthandler.enable()
faulthandler._sigsegv()
