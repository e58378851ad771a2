# Memory until there is no more, in several shapes; then the interpreter is still alive.
#: limit memory 64
#: limit timeout 30s
#: stdout exact "bytes\nlist\nstring\narray\nalive\n"
def fill(step):
    kept = []
    try:
        while True: kept.append(step())
    except MemoryError: pass
    n = len(kept)
    del kept
    return n
import numpy
fill(lambda: bytearray(1 << 20)); print("bytes")
fill(lambda: [None] * (1 << 17)); print("list")
fill(lambda: "x" * (1 << 20)); print("string")
fill(lambda: numpy.ones(1 << 17)); print("array")
try: bytearray(1 << 31)
except (MemoryError, OverflowError): pass
print("alive")
