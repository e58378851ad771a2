# The library in memory, changed in every way: the next call imports a whole one.
#: stdout has "\nalive\n"
import sys, importlib, builtins, os, random, tempfile, warnings, codecs
sys.path[:] = ["/tmp"]; sys.meta_path.clear(); sys.path_hooks.clear(); sys.modules["wave"] = None
os.environ["PLANTED"] = "1"; os.environ.pop("HOME", None); os.putenv("PYTHONPATH", "/tmp")
for n in ("colorsys", "mailbox", "sitecustomize", "usercustomize", "site"):
    open(f"/tmp/{n}.py", "w").write("raise SystemExit('planted')")
    open(f"/workspace/{n}.py", "w").write("raise SystemExit('planted')")
os.makedirs("/workspace/__pycache__", exist_ok=True)
builtins.print_ = print; builtins.open = None; builtins.planted = 1
random.seed(1); tempfile.tempdir = "/planted"; warnings.simplefilter("error"); sys.setrecursionlimit(50 + 1000)
codecs.register(lambda name: None)
sys.dont_write_bytecode = False
print("\nalive")
