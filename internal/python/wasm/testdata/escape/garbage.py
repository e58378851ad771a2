# The collector's tricks: objects of the engine found, changed and referred to; frozen ones thawed.
#: ends exit 0 | failure no_answer | failure crashed
#: stdout has "alive\n"
import gc, sys
gc.unfreeze(); gc.set_threshold(1); gc.set_debug(0)
class Hostile:
    def __getattr__(self, name): raise SystemExit(9)
    def __del__(self): gc.collect(); sys.stdout.write("")
h = [Hostile() for _ in range(100)]
h.append(h)
found = [o for o in gc.get_objects() if type(o) is dict and "_report" in o and "REPORT" in o]
for o in found:
    if type(o["_report"]) is dict: o["_report"]["result"] = "FORGED" * 10; o["figures"] = None
print("alive")
