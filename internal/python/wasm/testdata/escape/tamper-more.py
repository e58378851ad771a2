# The same, until nothing is left that could write a report; the call fails, and says that it did.
#: ends exit 3 | exit 1 | failure no_answer
import atexit, builtins, sys, threading, traceback, types
def explode(*a): raise KeyboardInterrupt
for name in ("len", "isinstance", "str", "list", "int", "min", "max", "super", "__build_class__", "BaseException"):
    setattr(builtins, name, None)
traceback.print_exc = traceback.print_exception = None
threading._shutdown = atexit._run_exitfuncs = atexit._clear = explode
sys.excepthook = sys.unraisablehook = explode
sys.modules["os"] = sys.modules["atexit"] = types.ModuleType("empty")
sys.stderr = sys.stdout = None
raise SystemExit(3)
