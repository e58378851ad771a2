# File names that break lines, terminals, archives and shells.
#: stdout has "\nalive\n"
#: files escaped
import os
names = ["a\nb", "a\rb", "\x1b[2J\x1b]0;x\x07", "-rf *", "$(id)", "`id`", "a\x85b", "a\u2028b", "a\u202etxt.exe", "a\u200bb", "\ufeff", "con", "nul.txt", " ", "...", "a" * 255,
         "\U0001f600" * 60, "%2e%2e", "..\\..\\x", "a'b\"c", "\x7f", "\x01", "x\u0301", "figure-1.png", "report.json", "script.py", "\u2066\u2069", "\U000e0041"]
for name in names:
    try: open("/workspace/output/" + name, "w").write("x")
    except OSError as e: print(ascii(name)[:20], e.errno)
for raw in (b"\xff\xfe", b"\xc3("):
    try: open(b"/workspace/output/" + raw, "w").write("x")
    except OSError as e: print(raw, e.errno)
for name in ("a/../../x", "a\0b", "", ".", "..", "/"):
    try: open("/workspace/output/" + name, "w").write("x"); print("DONE", ascii(name))
    except (OSError, ValueError): pass
print("\nalive")
