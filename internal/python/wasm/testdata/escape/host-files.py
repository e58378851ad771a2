# Files of the host that each Unix has, by every spelling.
#: stdout has "\nalive\n"
import os, glob
for p in ("/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/self/maps", "/proc/1/cmdline", "/proc/self/root/etc/passwd", "/dev/null", "/dev/mem", "/dev/tty", "/sys/kernel",
          "/root/.ssh/id_rsa", "/var/run/docker.sock", "/run/secrets", "/home", "/nonexistent", "file:///etc/passwd", "//etc/passwd", "/./etc/passwd", "/workspace/../etc/passwd",
          "/tmp/../../etc/passwd", "C:\\Windows", "\\\\?\\C:\\", "/lib", "/lib64", "/usr", "/usr/bin/env", "/boot", "/mnt"):
    for name, fn in {"read": lambda: open(p, "rb").read(10), "list": lambda: os.listdir(p), "stat": lambda: os.stat(p), "write": lambda: open(p, "r+b"), "exists": lambda: os.path.exists(p) or 1 / 0,
                     "chdir": lambda: os.chdir(p), "access": lambda: os.access(p, os.R_OK) or 1 / 0}.items():
        try: fn(); print("DONE", p, name)
        except (OSError, ZeroDivisionError): pass
print(glob.glob("/*"))
import urllib.request
try: urllib.request.urlopen("file:///etc/passwd").read(); print("DONE file url")
except Exception as e: print(type(e).__name__)
print(sorted(os.environ))
print("\nalive")
