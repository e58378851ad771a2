# The module whose import the runtime leaves unmet: all that it can be asked for.
#: ends exit 0 | exit 1 | failure crashed | failure no_answer
#: stdout lacks "DONE"
import sys
try: import _host
except ImportError: pass
try: import host
except ImportError: host = None
for module in [m for n, m in list(sys.modules.items()) if n == "host" or n.startswith("host.") or n in ("_host", "_sandbox")]:
    for name in dir(module):
        for args in ((), (b"{}",), ("open", "/etc/passwd"), (1 << 31, 1 << 31)):
            try: got = getattr(module, name)(*args)
            except BaseException: continue
            if "root:" in str(got): print("DONE", name)
print("alive")
