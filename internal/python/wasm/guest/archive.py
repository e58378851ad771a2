"""The standard library and package data, served from memory.

At run time no folder of ours is visible to a script, so there is none that it could change for a
later call. The archive's bytes lie in the image; zipimport and whatever asks for package data by
path read them through the few names replaced here.
"""

import builtins
import io
import os
import sys

LIBRARY = "/usr/local/lib/python315.zip"
FONTS = LIBRARY + "/matplotlib/mpl-data/"

_archives = {}  # path -> bytes of the archives that imports come from
_files = {}  # absolute path -> bytes, for data that packages open by path


class _Opener:
    """Stands for the module io inside zipimport, which opens the archive by its path."""

    def open_code(self, path):
        archive = _archives.get(path)
        if archive is not None:
            return io.BytesIO(archive)  # shares the bytes, copies nothing
        return io.open_code(path)

    def __getattr__(self, name):
        return getattr(io, name)


def _stat_archive(original):
    def path_stat(path):
        archive = _archives.get(path)
        if archive is not None:
            return os.stat_result((0o100644, 0, 0, 1, 0, 0, len(archive), 0, 0, 0))
        return original(path)

    return path_stat


def serve(archive):
    """Lets imports come from these bytes instead of from the file."""
    import zipimport

    import _zip_directory

    _archives[LIBRARY] = archive
    opener = _Opener()
    zipimport._io = opener
    _zip_directory._io = opener
    external = zipimport._bootstrap_external
    external._path_stat = _stat_archive(external._path_stat)


def serve_wheels(wheels):
    """Puts pure wheels on the path, after the standard library and what comes with it."""
    for name, data in wheels:
        path = "/usr/local/lib/" + name
        _archives[path] = data
        sys.path.append(path)


def serve_files(files):
    """Lets open() find these read-only files, which no file system has."""
    _files.update(files)
    original = io.open

    def open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
        if file.__class__ is not int:
            path = os.fspath(file)
            if path.__class__ is str and path.startswith("/usr/local/lib/"):
                data = _archives.get(path) or _files.get(os.path.normpath(path))
                if data is not None:
                    return _open_bytes(data, path, mode, encoding, errors, newline)
        return original(file, mode, buffering, encoding, errors, newline, closefd, opener)

    open.__doc__ = original.__doc__
    open.__module__ = "_io"
    open.__qualname__ = "open"
    builtins.open = io.open = open


class _Data(io.BytesIO):
    name = ""


def _open_bytes(data, path, mode, encoding, errors, newline):
    if set(mode) & set("wax+"):
        raise PermissionError(30, "the sandbox's own files are read-only", path)
    raw = _Data(data)
    raw.name = path
    if "b" in mode:
        return raw
    return io.TextIOWrapper(raw, encoding, errors, newline)


class _FontPath:
    def __getattr__(self, name):
        return getattr(os.path, name)

    @staticmethod
    def exists(path):
        return os.path.normpath(path) in _files or os.path.exists(path)

    isfile = exists

    @staticmethod
    def realpath(path, **kw):
        return path if os.path.normpath(path) in _files else os.path.realpath(path, **kw)


class _FontOS:
    """Stands for the module os inside matplotlib's font manager."""

    path = _FontPath()

    def __getattr__(self, name):
        return getattr(os, name)


def serve_fonts():
    """Unpacks matplotlib's data into memory and makes the font manager find it there."""
    import zipfile

    if "matplotlib" not in sys.modules:
        return
    from matplotlib import font_manager

    font_manager.os = _FontOS()


def serve_data():
    """Unpacks matplotlib's data, which the package opens by path."""
    import zipfile
    import zipimport

    try:
        inner = zipimport.zipimporter(LIBRARY).get_data(LIBRARY + "/matplotlib/mpl-data.zip")
    except OSError:
        return
    files = {}
    with zipfile.ZipFile(io.BytesIO(inner)) as z:
        for info in z.infolist():
            if not info.is_dir():
                files[os.path.normpath(FONTS + info.filename.removeprefix("mpl-data/"))] = z.read(info)
    serve_files(files)
