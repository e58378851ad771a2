# Ways to native code and raw memory of the host.
#: stdout has "\nalive\n"
import sys
for name in ("_ctypes", "cffi", "_cffi_backend", "_testcapi", "_testinternalcapi", "js", "pyodide", "_posixsubprocess", "resource", "fcntl"):
    try: __import__(name); print("DONE", name)
    except ImportError: print(name, "absent")
try:
    import mmap
    with open("/tmp/m", "w+b") as f:
        f.truncate(4096); mmap.mmap(f.fileno(), 4096); print("DONE mapped")
except Exception as e: print("mmap", type(e).__name__)
try:
    import importlib.machinery, importlib.util
    open("/tmp/x.so", "wb").write(b"\x7fELF")
    spec = importlib.util.spec_from_loader("x", importlib.machinery.ExtensionFileLoader("x", "/tmp/x.so"))
    importlib.util.module_from_spec(spec); print("DONE loaded")
except Exception as e: print("extension", type(e).__name__)
print("\nalive")
