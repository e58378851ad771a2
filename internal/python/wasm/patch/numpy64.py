"""Names of numpy's 64-bit default integer.

The interpreter's numpy is patched so that integers have 64 bits by default, as on 64-bit Linux.
This module does the part that lives in Python. It is imported once, right after numpy and before
any other package, while the memory image is built.

Some names mean two things. To compiled code, numpy.intp and numpy.long are the types of the
arrays that it indexes with or keeps its numbers in; these have 32 bits here. In Python code they
mean "an integer as large as an index" or "a large integer", and there they are 64 bits wide, so
that what is computed from them does not wrap. Who reads the name decides.
"""

import functools
import opcode
import sys
import types

import numpy
import numpy.char
import numpy.strings
from numpy._core import _type_aliases, arrayprint, numeric, numerictypes
from numpy.lib import _arraysetops_impl, _histograms_impl, _iotools
from numpy.ma import core as masked

_LIBRARY = numpy.__file__[: -len("numpy/__init__.pyc")]
_NUMPY = _LIBRARY + "numpy/"

_OWN = globals()

_NARROW = {name: getattr(numpy, name) for name in ("int_", "uint", "long", "ulong", "intp", "uintp")}
_WIDE = {name: numpy.uint64 if name.startswith("u") else numpy.int64 for name in _NARROW}

# Packages hand what they make of these to their compiled code; of int_ and uint they do not, since
# these are not of one size on the systems that they support.
_FOR_USERS_ONLY = frozenset(("intp", "uintp", "long", "ulong"))

_EXTENDED_ARG = opcode.opmap["EXTENDED_ARG"]
_LOAD_ATTR = opcode.opmap["LOAD_ATTR"]
_IMPORT_FROM = opcode.opmap["IMPORT_FROM"]
_IMPORT_STAR = opcode.opmap["CALL_INTRINSIC_1"]


def _reads(frame, attr):
    """Tell whether the frame's own Python code reads the attribute; compiled code does it in a call."""
    code, at = frame.f_code.co_code, frame.f_lasti
    operation, argument = code[at], code[at + 1]
    shift = 8
    while at >= 2 and code[at - 2] == _EXTENDED_ARG:
        at -= 2
        argument |= code[at + 1] << shift
        shift += 8
    if operation == _IMPORT_STAR:
        return True
    if operation == _LOAD_ATTR:
        argument >>= 1
    elif operation != _IMPORT_FROM:
        return False
    names = frame.f_code.co_names
    return argument < len(names) and names[argument] == attr


def _is_user(frame):
    return not frame.f_code.co_filename.startswith(_LIBRARY) and frame.f_globals is not _OWN


def _called_by_user(frame):
    """Tell whether the innermost frame outside numpy belongs to the user's own code."""
    while frame is not None:
        if _is_user(frame):
            return True
        if not frame.f_code.co_filename.startswith(_NUMPY):
            return False
        frame = frame.f_back
    return False


def _name_default_integer():
    for module in (numpy._core, numerictypes, arrayprint):
        for name in ("int_", "uint"):
            if name in vars(module):
                setattr(module, name, _WIDE[name])
    # dtype="int"; the table is the one that numpy's C code uses.
    _type_aliases.sctypeDict.update({"int": _WIDE["int_"], "int_": _WIDE["int_"], "uint": _WIDE["uint"]})
    # An array of the default integer prints without its type, and text is read as such integers.
    implied = arrayprint._typelessdata
    implied[:] = [_WIDE["int_"] if kind is _NARROW["int_"] else kind for kind in implied]
    mapper = _iotools.StringConverter._mapper
    mapper[:] = [entry for entry in mapper if entry[0] is not _NARROW["int_"]]


def _split_names():
    """Let the names be read through a function of the module instead of from its dictionary."""
    fall_back = vars(numpy)["__getattr__"]

    def __getattr__(attr):
        if attr not in _NARROW:
            return fall_back(attr)
        frame = sys._getframe(1)
        if attr in _FOR_USERS_ONLY and not _is_user(frame):
            return _NARROW[attr]
        return (_WIDE if _reads(frame, attr) else _NARROW)[attr]

    numpy.__getattr__ = __getattr__
    for attr in _NARROW:
        delattr(numpy, attr)


def _split_counts():
    """Let histogram, unique and count_nonzero, which ask for intp, count in 64 bits for the user.

    These modules of numpy get a view of the package in which intp depends on who called.
    """
    view = types.ModuleType("numpy", numpy.__doc__)
    vars(view).update(vars(numpy))

    def __getattr__(attr):
        if attr in _FOR_USERS_ONLY:
            return (_WIDE if _called_by_user(sys._getframe(1)) else _NARROW)[attr]
        if attr in _WIDE:
            return _WIDE[attr]
        return getattr(numpy, attr)

    view.__getattr__ = __getattr__
    for module in (_arraysetops_impl, _histograms_impl, numeric, masked):
        if vars(module).get("np") is numpy:
            module.np = view


def _widened(result):
    """Widen positions: an array, a Series, or a collection of them."""
    if getattr(getattr(result, "dtype", None), "char", "") == "l":
        return result.astype(numpy.int64)
    if type(result) is tuple:
        return tuple(map(_widened, result))
    if type(result) is dict:
        return {key: _widened(value) for key, value in result.items()}
    return result


def _first_widened(result):
    """Widen codes, but not what they stand for: that is the user's data, of the user's type."""
    return (_widened(result[0]), *result[1:])


def _widen_results(owner, *names, widened=_widened):
    """Let functions of a package that return positions return 64-bit ones to the user's code."""
    for name in names:
        function = getattr(owner, name, None)
        if function is not None:
            setattr(owner, name, _widening(function, widened))


def _widening(function, widened):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        return widened(result) if _is_user(sys._getframe(1)) else result

    return wrapper


def _adapt_managers(module):
    """pandas appends Python integers to its index arrays, which makes them 64 bits wide."""
    for owner in vars(module).values():
        update = isinstance(owner, type) and vars(owner).get("_insert_update_blklocs_and_blknos")
        if not update:
            continue

        def narrowed(self, *args, _update=update, **kwargs):
            _update(self, *args, **kwargs)
            self._blklocs = self._blklocs.astype(_NARROW["intp"], copy=False)
            self._blknos = self._blknos.astype(_NARROW["intp"], copy=False)

        owner._insert_update_blklocs_and_blknos = functools.wraps(update)(narrowed)


def _adapt_base(module):
    _widen_results(module.IndexOpsMixin, "factorize", widened=_first_widened)
    _widen_results(module.IndexOpsMixin, "searchsorted")


_PEAKS = ("argrelextrema", "argrelmax", "argrelmin", "find_peaks", "find_peaks_cwt", "peak_prominences", "peak_widths")

_ADAPT = {
    "pandas.core.algorithms": lambda m: _widen_results(m, "factorize", widened=_first_widened),
    "pandas.core.base": _adapt_base,
    "pandas.core.indexes.base": lambda m: _widen_results(m.Index, "argsort", "get_indexer"),
    "pandas.core.internals.managers": _adapt_managers,
    "pandas.core.series": lambda m: _widen_results(m.Series, "argsort", "searchsorted"),
    "scipy.signal._peak_finding": lambda m: _widen_results(m, *_PEAKS),
    "scipy.spatial._kdtree": lambda m: _widen_results(m.KDTree, "query"),
    "sklearn.neighbors._base": lambda m: _widen_results(m.KNeighborsMixin, "kneighbors"),
}


class _Loader:
    """Loads a module as its own loader does, then adapts it."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _ADAPT[module.__name__](module)


class _Finder:
    """Finds the few modules that must be adapted, also when they are imported long after."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name not in _ADAPT:
            return None
        for finder in sys.meta_path:
            spec = None if finder is cls else finder.find_spec(name, path, target)
            if spec is not None:
                spec.loader = _Loader(spec.loader)
                return spec
        return None


_name_default_integer()
_split_names()
_split_counts()
for _strings in (numpy.strings, numpy.char):
    _widen_results(_strings, "count", "find", "index", "rfind", "rindex")
sys.meta_path.insert(0, _Finder)
