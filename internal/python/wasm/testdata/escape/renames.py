# Renames and hard links between the folders, over them, and of them.
#: stdout has "\nalive\n"
import os
def t(name, fn):
    try: fn()
    except OSError as e: print(name, "denied", e.errno)
    else: print(name, "DONE")
open("/tmp/f", "w").write("x")
os.mkdir("/tmp/d")
for a in ("/workspace", "/tmp", "/.sallyport", "."):
    for b in ("/tmp/n", "/workspace/n", "/.sallyport/n", "/n", "/tmp/../n", "/etc/passwd"):
        t(f"rename {a} {b}", lambda: os.rename(a, b))
for b in ("/", "/workspace", "/tmp", "/.sallyport", "..", "../f", "/tmp/../../f", "/usr/local/lib/f", "/tmp/d/../../../f"):
    t(f"move file {b}", lambda: os.replace("/tmp/f", b))
    t(f"move folder {b}", lambda: os.replace("/tmp/d", b))
    t(f"hard link {b}", lambda: os.link("/tmp/f", b))
    t(f"link {b}", lambda: os.symlink("f", b))
    t(f"rmdir {b}", lambda: os.rmdir(b))
print()
print("alive")
