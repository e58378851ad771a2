"""Builds the memory image: the archive into memory, packages imported, nothing left open.

Runs once, inside the sandbox, from the control folder. What it prints to standard error is the
progress that setup shows; it raises when an image would not be sound.
"""

import builtins
import gc
import io
import json
import os
import sys
import types

FOLDER = "/.sallyport/"


def _sources():
    package = types.ModuleType("_sallyport")
    package.__path__ = []
    sys.modules["_sallyport"] = package
    with open(FOLDER + "plan.json", encoding="utf-8") as f:
        plan = json.load(f)
    for name in plan["guest"]:
        with open(FOLDER + name + ".py", encoding="utf-8") as f:
            source = f.read()
        module = types.ModuleType("_sallyport." + name)
        sys.modules[module.__name__] = module
        setattr(package, name, module)
        # Its own builtins: a script that replaces len() must not break what ends it.
        module.__dict__["__builtins__"] = dict(vars(builtins))
        exec(compile(source, f"<sallyport>/{name}.py", "exec"), module.__dict__)
    return package, plan


class _Silence(io.TextIOBase):
    def write(self, text):
        return len(text)


def _say(text):
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _walk(name, names):
    """Lists the modules of a package in the archive, without tests."""
    skip = {"tests", "test", "testing", "conftest", "setup", "__main__", "_testing", "_pyinstaller", "f2py", "distutils",
            "_precompute", "benchmarks", "demos", "examples", "usedoctest", "doctestcompare", "sandbox", "plugins", "ipython_exts"}
    for module in names:
        parts = module.split(".")
        if parts[0] == name and not skip.intersection(parts):
            yield module


def _archive_modules(archive):
    import zipfile

    found = set()
    for member in zipfile.ZipFile(io.BytesIO(archive)).namelist():
        stem, dot, kind = member.rpartition(".")
        if kind not in ("py", "pyc"):
            continue
        parts = stem.split("/")
        if parts[-1] == "__init__":
            parts.pop()
        if parts and all(p.isidentifier() for p in parts):
            found.add(".".join(parts))
    return sorted(found)


# Importing these opens a browser, prints, or needs what is not here.
NOT_IMPORTED = {
    "antigravity", "this", "idlelib", "turtle", "turtledemo", "tkinter", "pty", "tty", "curses", "__phello__", "__hello__",
    "_pyrepl", "pdb", "profiling", "wsgiref", "lib2to3", "host", "cProfile", "rlcompleter", "_aix_support",
    "_osx_support", "_ios_support", "_apple_support", "_android_support", "nturl2path", "ntpath", "_sallyport", "site",
    "sitecustomize", "usercustomize", "__main__", "sre_compile", "sre_parse", "sre_constants",
}


class _Never(Warning):
    """No module warns of this."""


def _mute_warnings():
    """Keeps imports quiet, and every filter that a package adds while it is imported."""
    import warnings

    entry = ("ignore", None, Warning, None, 0)
    warnings.filters.append(entry)
    shown = warnings.showwarning
    warnings.showwarning = lambda *_args, **_kwargs: None

    def unmute():
        warnings.filters.remove(entry)
        warnings.showwarning = shown
        # A filter for nothing, added as anybody would, tells the C part that the list has changed.
        warnings.simplefilter("ignore", _Never)

    return unmute


def _preload(wanted, modules):
    import importlib

    for top in wanted:
        for name in _walk(top, modules):
            if name in sys.modules:
                continue
            try:
                importlib.import_module(name)
            except (Exception, SystemExit):
                # An optional part whose need is not met here; the package itself is checked below.
                continue


def _correct_numpy(source):
    module = types.ModuleType("_sallyport.numpy64")
    sys.modules[module.__name__] = module
    exec(compile(source, "<sallyport>/numpy64.py", "exec"), module.__dict__)


def _check_found(names):
    import importlib.util

    missing = [n for n in names if n not in sys.modules and importlib.util.find_spec(n) is None]
    if missing:
        raise RuntimeError(f"image would lack modules that are advertised: {missing}")


def _no_descriptor():
    """Nothing above the three folders may be open in an image."""
    gc.collect()
    left = []
    for fd in range(6, 64):
        try:
            os.fstat(fd)
            left.append(fd)
        except OSError:
            pass
    if left:
        raise RuntimeError(f"image would keep descriptors open: {left}")


def main():
    sys.stdout = _Silence()  # descriptor 1 carries the memory image: a module that prints must not
    guest, plan = _sources()
    with open("/usr/local/lib/python315.zip", "rb") as f:
        archive = f.read()
    guest.archive.serve(archive)
    modules = _archive_modules(archive)
    _say("progress: archive in memory")
    extra = []
    for name in plan["wheels"]:
        with open(FOLDER + name, "rb") as f:
            extra.append((name, f.read()))
    guest.archive.serve_wheels(extra)
    for _, wheel in extra:
        modules += _archive_modules(wheel)
    stdlib = [m for m in sys.stdlib_module_names if m not in NOT_IMPORTED and not m.startswith("_")]
    guest.archive.serve_data()
    unmute = _mute_warnings()
    _preload(sorted(stdlib), modules)
    _say("progress: standard library imported")
    guest.refuse.install()
    guest.loop.install()
    # Also in an image that does not ask for it: whatever imports it later must find it corrected.
    import numpy

    _correct_numpy(plan["numpy64"])
    # Likewise: fonts and the way figures come back are set up while its files can be seen.
    import matplotlib.pyplot

    for top in plan["preload"]:
        try:
            __import__(top)
        except ImportError as error:
            raise RuntimeError(f"cannot preload {top}: {error}") from None
        _preload([top], modules)
        _say(f"progress: {top} imported")
    _check_found(plan["require"])
    guest.archive.serve_names()
    guest.figures.install()
    guest.fixes.install()
    guest.warm.warm()
    unmute()
    guest.run.prepare()
    guest.main = guest.run.main
    guest.entropy.collect()
    sys.path_importer_cache.pop("/", None)
    for name in ("__warningregistry__",):
        for module in list(sys.modules.values()):
            try:
                module.__dict__.pop(name, None)
            except AttributeError:
                pass
    sys.setrecursionlimit(1000)
    import linecache

    linecache.clearcache()
    for fd in (6, 7):  # the library's folders, which only the build sees
        os.close(fd)
    sys.dont_write_bytecode = True
    _no_descriptor()
    _say(f"progress: {len(sys.modules)} modules imported")
    with open(FOLDER + "packages.json", "w", encoding="utf-8") as f:
        json.dump({"python": sys.version.split()[0], "modules": sorted(sys.modules)}, f)
    gc.collect()
    gc.freeze()


try:
    main()
except BaseException:
    import traceback

    traceback.print_exc(file=sys.stderr)
    sys.stderr.flush()
    raise
