# Everything that ends a call, tampered with in memory; the report is still written by what was kept aside.
#: ends exit 3
import builtins, gc, io, json, os, posix, sys, traceback, types
import _sallyport
import threading
json.dumps = json.loads = json.JSONEncoder = None
os.open = os.write = os.close = posix.open = posix.write = posix.close = lambda *a, **k: 1 / 0
io.open = builtins.open = None
for name in ("print", "repr", "open", "sorted", "sum", "input", "exit", "format"):
    try: setattr(builtins, name, None)
    except Exception: pass
gc.disable(); gc.collect = None
sys.modules["json"] = sys.modules["gc"] = types.ModuleType("empty")
sys.stdout.flush = None
raise SystemExit(3)
