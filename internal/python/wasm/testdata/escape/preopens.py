# Writes through each folder that a guest has, through "..", and at the places where a library lies elsewhere.
#: stdout has "\nalive\n"
import os
def t(name, fn):
    try: got = fn()
    except OSError as e: print(name, "denied", e.errno)
    else: print(name, "DONE", str(got)[:200])
folders = ["/workspace", "/tmp", "/.sallyport", "."]
outward = ["/..", "/../..", "/../../..", "/./..", "/x/../..", "//..", "/../workspace/..", "/input/../.."]
for f in folders:
    for o in outward:
        p = f + o
        t(p + " list", lambda: os.listdir(p))
        t(p + " stat", lambda: os.stat(p))
        t(p + " write", lambda: open(p + "/planted", "w").write("x"))
        t(p + " mkdir", lambda: os.mkdir(p + "/planted"))
        t(p + " utime", lambda: os.utime(p, (1, 1)))
        t(p + " files", lambda: os.listdir(p + "/files"))
        t(p + " image", lambda: open(p + "/files/image", "r+b").write(b"x"))
        fd = os.open(f, os.O_RDONLY)
        t(p + " at", lambda: os.open(".." + o, os.O_RDONLY, dir_fd=fd))
        t(p + " at write", lambda: os.open("../planted", os.O_WRONLY | os.O_CREAT, dir_fd=fd))
        os.close(fd)
for p in ("/usr/local/lib", "/usr/local/lib/python315.zip", "/files/image", "/image", "/program", "/lib", "/"):
    t(p + " write", lambda: open(p + "/planted", "w").write("x"))
    t(p + " append", lambda: open(p, "ab").write(b"x"))
    t(p + " truncate", lambda: os.truncate(p, 0))
    t(p + " O_TRUNC", lambda: os.open(p, os.O_RDONLY | os.O_TRUNC))
    t(p + " unlink", lambda: os.unlink(p))
    t(p + " rename", lambda: os.rename(p, "/tmp/stolen"))
    t(p + " utime", lambda: os.utime(p, (1, 1)))
print()
print("alive")
