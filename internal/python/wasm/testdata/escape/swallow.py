# A loop that swallows every exception.
#: limit timeout 2s
#: ends timeout
while True:
    try:
        while True: pass
    except BaseException: continue
