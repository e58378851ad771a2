# The folder of the report is full, so that the real one finds no room.
#: ends failure no_answer
#: stdout has "full\n"
f = open("/.sallyport/x", "wb")
try:
    while True: f.write(bytes(1 << 16)); f.flush()
except OSError: print("full")
