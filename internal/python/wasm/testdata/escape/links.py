# Symbolic and hard links, relative, absolute, with trailing slashes and in chains, that lead outward.
#: stdout has "\nalive\n"
#: files only
import os
targets = ["/etc/passwd", "/etc", "/", "/proc/self/root", "../../../../etc/passwd", "../../../../etc/", "..", "../", "../..", "../control",
           "../control/", "x/../../../etc", "/workspace", "/tmp/..", "../../files/image", "../files/", "//etc", "./../../etc/passwd", "../" * 40 + "etc/passwd"]
made = []
for folder in ("/workspace", "/tmp", "/workspace/output"):
    for i, target in enumerate(targets):
        if folder == "/workspace/output" and target in ("..", "../"): continue  # stays inside
        link = f"{folder}/l{i}"
        try: os.symlink(target, link); made.append((link, target))
        except OSError: pass
for i in range(50):  # chains
    os.symlink(f"c{i + 1}", f"/tmp/c{i}")
try: os.symlink("../../../../etc/passwd", "/tmp/c50")
except OSError: pass
made.append(("/tmp/c0", "chain")); made.append(("/tmp/c45", "short chain"))
os.symlink("loop2", "/tmp/loop1"); os.symlink("loop1", "/tmp/loop2")
for link, target in made:
    for tail in ("", "/", "/.", "/..", "/passwd", "/hostname", "/../etc/passwd"):
        p = link + tail
        for name, fn in {
            "read": lambda: open(p, "rb").read(64), "list": lambda: os.listdir(p), "write": lambda: open(p, "r+b").close(),
            "create": lambda: open(p + "/planted", "w").close(), "stat": lambda: os.stat(p), "utime": lambda: os.utime(p, (1, 1)),
            "hard": lambda: os.link(p, "/tmp/hard"), "mkdir": lambda: os.mkdir(p + "/made"), "truncate": lambda: os.truncate(p, 0),
        }.items():
            if name == "hard" and tail == "": continue  # one more name of the link itself
            try: fn()
            except OSError: continue
            print("DONE", link, target, tail, name)
for source in ("/etc/passwd", "../../etc/passwd", "/usr/local/lib/python315.zip", "/files/image"):
    for follow in (True, False):
        try: os.link(source, "/tmp/hard", follow_symlinks=follow); print("DONE hard", source)
        except (OSError, NotImplementedError): pass
print()
print("alive")
