# A tree deeper than any path may be long, with its modes taken away.
#: stdout has "\nalive\n"
import os
fd = os.open("/workspace/output", os.O_RDONLY)
n = 0
try:
    for n in range(3000):
        os.mkdir("d" * 60, dir_fd=fd)
        deeper = os.open("d" * 60, os.O_RDONLY, dir_fd=fd)
        os.close(fd); fd = deeper
except OSError as e: print("depth", n, e.errno)
try: os.symlink("../" * 60, "up", dir_fd=fd)
except OSError: pass
try: open("/workspace/output/" + ("d" * 60 + "/") * 400 + "f", "w")
except OSError as e: print("long", e.errno)
for p in ("/workspace/output/" + "d" * 60, "/workspace/output", "/workspace", "/tmp"): os.chmod(p, 0)
print("\nalive")
