"""Small things that a native CPython has and this one lacks, made up for in Python."""

import sys


def _fromfile():
    """numpy.fromfile duplicates a descriptor, which WASI cannot do; reading the bytes gives the same array."""
    import os

    import numpy

    original = numpy.fromfile

    def fromfile(file, dtype=float, count=-1, sep="", offset=0, *, like=None):
        if sep != "" or like is not None:
            if hasattr(file, "read"):
                text = file.read()
            else:
                with open(file, "rb") as f:
                    text = f.read()
            if isinstance(text, bytes):
                text = text.decode("latin-1")
            return numpy.fromstring(text, dtype=dtype, count=count, sep=sep)
        dtype = numpy.dtype(dtype)
        wanted = -1 if count < 0 else count * dtype.itemsize
        if hasattr(file, "read"):
            if offset:
                file.seek(offset, os.SEEK_CUR)
            data = file.read(wanted)
        else:
            with open(file, "rb") as f:
                f.seek(offset)
                data = f.read(wanted)
        whole = len(data) // dtype.itemsize
        return numpy.frombuffer(bytearray(data), dtype=dtype, count=whole) if whole else numpy.empty(0, dtype)

    fromfile.__doc__ = original.__doc__
    fromfile.__module__ = "numpy"
    numpy.fromfile = fromfile
    for module in list(sys.modules.values()):
        try:
            if module.__dict__.get("fromfile") is original:
                module.fromfile = fromfile
        except AttributeError:
            pass


def _pbkdf2():
    """hashlib.pbkdf2_hmac comes from OpenSSL elsewhere; this is RFC 8018, section 5.2, in Python."""
    import hashlib
    import hmac

    if hasattr(hashlib, "pbkdf2_hmac"):
        return

    def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
        if iterations < 1:
            raise ValueError("iteration value must be greater than 0.")
        keyed = hmac.new(bytes(password), None, hash_name)
        size = keyed.digest_size
        dklen = size if dklen is None else dklen
        if dklen < 1:
            raise ValueError("key length must be greater than 0.")

        def digest(message):
            state = keyed.copy()
            state.update(message)
            return state.digest()

        key = b""
        block = 0
        while len(key) < dklen:
            block += 1
            last = digest(bytes(salt) + block.to_bytes(4, "big"))
            total = int.from_bytes(last, "big")
            for _ in range(iterations - 1):
                last = digest(last)
                total ^= int.from_bytes(last, "big")
            key += total.to_bytes(size, "big")
        return key[:dklen]

    hashlib.pbkdf2_hmac = pbkdf2_hmac


def _plain_missing_modules():
    """CPython adds advice about site packages, which there are none of, to a missing module."""
    import traceback

    original = traceback.TracebackException.__init__
    advice = ". Site initialization is disabled, did you forget to add the site-packages directory to sys.path"

    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        if isinstance(self._str, str) and advice in self._str:
            self._str = self._str[: self._str.index(advice)]

    traceback.TracebackException.__init__ = __init__


def install():
    _fromfile()
    _pbkdf2()
    _plain_missing_modules()
    tqdm = sys.modules.get("tqdm")
    if tqdm is not None:
        tqdm.tqdm.monitor_interval = 0  # its monitor is a thread
