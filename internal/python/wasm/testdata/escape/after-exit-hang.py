# An exit handler that never ends is under the same clock.
#: limit timeout 2s
#: ends timeout
#: stdout exact "before\n"
import atexit
def stay():
    while True: pass
atexit.register(stay)
print("before")
