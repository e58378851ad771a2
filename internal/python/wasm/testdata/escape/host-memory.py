# Calls for which the runtime makes room on its own side: random bytes, folder listings, waits, vectors, paths, sleeps.
#: limit files 1000
#: limit timeout 30s
#: stdout has "\nalive\n"
import os, select, time
def t(name, fn):
    try: fn()
    except (OSError, MemoryError, OverflowError, ValueError, AttributeError) as e: print(name, type(e).__name__)
t("random", lambda: os.urandom(64 << 20))
t("random huge", lambda: os.urandom(1 << 31))
for i in range(900): open(f"/tmp/{'n' * 200}{i}", "w").close()
its = [os.scandir("/tmp") for _ in range(50)]
for it in its: next(it)
t("listings", lambda: [os.listdir("/tmp") for _ in range(3)])
t("select", lambda: select.select(range(0, 200), range(0, 200), [], 0))
def poll():
    p = select.poll()
    for fd in range(100_000): p.register(fd)
    p.poll(0)
t("poll", poll)
t("path", lambda: open("/tmp/" + "x/" * (8 << 20)))
t("link", lambda: os.symlink("x" * (8 << 20), "/tmp/long"))
t("sleep", lambda: time.sleep(-1))
t("sleep", lambda: time.sleep(1e300))
print("\nalive")
