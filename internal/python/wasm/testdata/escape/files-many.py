# A million files, in one folder and over many.
#: limit files 2000
#: limit timeout 30s
#: stdout has "\nalive\n"
import os
n = 0
try:
    for n in range(1_000_000):
        if n % 50 == 0: os.mkdir(f"/workspace/output/d{n}")
        open(f"/workspace/output/d{n - n % 50}/f{n}", "w").close()
    print("DONE a million")
except OSError as e: print("full", e.errno, n < 2100)
try:
    for n in range(1_000_000): os.link("/workspace/output/d0/f0", f"/tmp/h{n}")
    print("DONE a million links")
except OSError as e: print("full", e.errno)
try:
    for n in range(1_000_000): os.symlink("x", f"/.sallyport/h{n}")
    print("DONE a million symbolic links")
except OSError as e: print("full", e.errno)
for name in os.listdir("/.sallyport"): os.unlink("/.sallyport/" + name)
print("\nalive")
