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
            if isinstance(path, str) and path.startswith("/usr/local/lib/"):
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


_ROOT = ("tmp", "workspace")  # what a script finds in the root folder, which WASI has no handle for
_FOLDER = os.stat_result((0o040755, 0, 0, 1, 0, 0, 0, 0, 0, 0))


def serve_names():
    """Lets os.stat() see the files that open() finds here, and the root folder."""
    original_stat, original_list = os.stat, os.listdir

    def stat(path, *, dir_fd=None, follow_symlinks=True):
        try:
            return original_stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        except OSError:
            name = os.fspath(path) if path.__class__ is not int else None
            if name == "/":
                return _FOLDER
            if isinstance(name, str) and name.startswith("/usr/local/lib/"):
                data = _files.get(os.path.normpath(name))
                if data is not None:
                    return os.stat_result((0o100644, 0, 0, 1, 0, 0, len(data), 0, 0, 0))
            raise

    def listdir(path="."):
        if path.__class__ is str and path == "/":
            return list(_ROOT)
        return original_list(path)

    for new, old in ((stat, original_stat), (listdir, original_list)):
        new.__doc__, new.__module__, new.__qualname__ = old.__doc__, "posix", old.__name__
        setattr(os, new.__name__, new)
        for supported in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
            if old in supported:
                supported.add(new)


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
