# Output without an end, on both streams at once.
#: limit timeout 2s
#: ends timeout
#: stdout truncated
#: stderr truncated
import os
block = b"A" * 65536
while True:
    os.write(1, block)
    os.write(2, block)
