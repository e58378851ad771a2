# Sparse files of every size, in each folder; only the sizes are large.
#: limit scratch 32
#: stdout has "\nalive\n"
#: files only
import os
for folder in ("/tmp", "/workspace", "/workspace/output", "/.sallyport"):
    for n in (1 << 31, 1 << 33, 1 << 40, 1 << 62):
        fd = os.open(f"{folder}/s{n}", os.O_CREAT | os.O_RDWR)
        for fn in (lambda: os.ftruncate(fd, n), lambda: os.pwrite(fd, b"x", n)):
            try: fn()
            except (OSError, OverflowError): pass
        os.close(fd)
    try: os.posix_fallocate(os.open(f"{folder}/a", os.O_CREAT | os.O_RDWR), 0, 1 << 40); print("DONE allocated", folder)
    except (OSError, AttributeError): pass
total = 0
try:
    with open("/tmp/full", "wb") as f:
        while total < 1 << 30: total += f.write(bytes(1 << 20)); f.flush()
    print("DONE filled without a limit")
except OSError as e: print("full", e.errno)
for folder in ("/tmp", "/workspace", "/workspace/output", "/.sallyport"):
    for name in os.listdir(folder):
        if folder == "/.sallyport" or folder == "/tmp": os.unlink(f"{folder}/{name}")
print("\nalive")
