# Descriptors until there are no more; the call still ends well.
#: stdout has "alive\n"
#: stdout lacks "none at all"
import os
fds = []
try:
    while len(fds) < 100_000: fds.append(os.open("/tmp/x", os.O_CREAT | os.O_RDWR))
    print("DONE unbounded")
except OSError as e: print(e.errno)
if not fds: print("none at all")
for fd in fds: os.close(fd)
print("alive")
