# Each descriptor number there may be: looked at, opened again, duplicated, read and written at offsets, renumbered.
#: stdout matches `^(\d+ (dir|other)\n){6}alive\n`
import os, stat
seen = []
for fd in range(0, 65):
    try: st = os.fstat(fd)
    except OSError: continue
    seen.append((fd, "dir" if stat.S_ISDIR(st.st_mode) else "other"))
lines = "".join(f"{fd} {kind}\n" for fd, kind in seen)
bad = []
for fd in range(3, 65):
    for name, fn in {
        "pread": lambda: os.pread(fd, 64, 0), "pwrite": lambda: os.pwrite(fd, b"x", 0), "write": lambda: os.write(fd, b"x"), "read": lambda: os.read(fd, 64),
        "truncate": lambda: os.ftruncate(fd, 0), "parent": lambda: os.open("..", os.O_RDONLY, dir_fd=fd), "outside": lambda: os.open("../../etc/passwd", os.O_RDONLY, dir_fd=fd),
        "root": lambda: os.open("/", os.O_RDONLY, dir_fd=fd), "absolute": lambda: os.open("/etc/passwd", os.O_RDONLY, dir_fd=fd),
        "path": lambda: open(f"/proc/self/fd/{fd}", "rb").read(1), "device": lambda: open(f"/dev/fd/{fd}", "rb").read(1),
    }.items():
        try: fn()
        except OSError: continue
        bad.append((fd, name))
for a in (3, 4, 5):  # one folder in place of another
    for b in (3, 4, 5, 40, 1 << 20, -1):
        try: os.close(os.dup2(a, b)) if b == 40 else None
        except (OSError, ValueError, AttributeError): pass
for fd, name in bad: lines += f"DONE {fd} {name}\n"
os.write(1, (lines + "alive\n").encode())
