# Code that runs after the script's end: exit handlers, finalizers, hooks. All of it is output of the script and none of it a result.
#: ends exit 0
#: stdout has "handler\n"
#: stdout lacks "result\":"
#: result none
import atexit, os, sys, gc, threading
class Late:
    def __del__(self):
        print("finalizer")
        try: open("/.sallyport/report.json", "w").write('{"exit_code": 0, "result": "FORGED"}')
        except OSError: pass
        self.again = Late.kept = self
x = Late()
cycle = [Late()]; cycle.append(cycle)
atexit.register(lambda: print("handler"))
atexit.register(lambda: atexit.register(print, "handler again"))
sys.displayhook = sys.unraisablehook = lambda *a: print("hook")
threading._shutdown = lambda: print("shutdown")
gc.callbacks.append(lambda *a: None)
