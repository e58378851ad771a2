"""What this interpreter cannot do, said at once and in words that a model acts on.

Nothing here is a guard: a WebAssembly guest without sockets, processes and threads has none,
whatever Python it runs. These are the messages, in place of errors that invite another try.
"""

import errno
import sys

ADVICE = "this is the sandbox, not a passing fault: trying again is useless"


def _message(what):
    return f"{what} ({ADVICE})"


def _raiser(kind, what, *args):
    def refused(*_args, **_kwargs):
        raise kind(*args, _message(what))

    return refused


def network():
    import _socket
    import socket

    what = "network access is denied by the sandbox policy: no rule allows it"
    error = lambda: PermissionError(errno.EACCES, _message(what))

    class _Socket(socket.socket):
        def __init__(self, *args, **kwargs):
            raise error()

        def __del__(self):
            pass

    _Socket.__name__ = _Socket.__qualname__ = "socket"
    _Socket.__module__ = "socket"

    def refused(*_args, **_kwargs):
        raise error()

    socket.socket = socket.SocketType = _Socket
    for name in ("create_connection", "create_server", "socketpair", "fromfd", "getaddrinfo", "gethostbyname",
                 "gethostbyname_ex", "gethostbyaddr", "getnameinfo", "getservbyname", "getprotobyname"):
        function = lambda *_a, **_k: refused()
        function.__name__ = function.__qualname__ = name
        setattr(socket, name, function)
    socket.getfqdn = lambda name="": name or "localhost"
    socket.gethostname = lambda: "localhost"
    _https(error)


def _https(error):
    """Without the ssl module urllib calls https an unknown scheme; the truth is a denial."""
    import http.client
    import urllib.request

    class HTTPSHandler(urllib.request.AbstractHTTPHandler):
        def https_open(self, request):
            raise urllib.request.URLError(error())

        https_request = urllib.request.AbstractHTTPHandler.do_request_

    class HTTPSConnection(http.client.HTTPConnection):
        default_port = 443

        def __init__(self, *args, context=None, **kwargs):
            super().__init__(*args, **kwargs)

        def connect(self):
            raise error()

    urllib.request.HTTPSHandler = HTTPSHandler
    urllib.request.__all__.append("HTTPSHandler")
    http.client.HTTPSConnection = HTTPSConnection
    original = urllib.request.build_opener

    def build_opener(*handlers):
        return original(*handlers, HTTPSHandler)

    urllib.request.build_opener = build_opener


def processes():
    import os
    import subprocess

    what = "starting a process is not possible in this WebAssembly interpreter; it takes a container engine, which this server does not run"

    def refused(*_args, **_kwargs):
        raise OSError(errno.ENOTSUP, _message(what))

    class Popen(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            refused()

        def __del__(self):
            pass

    Popen.__module__, Popen.__qualname__ = "subprocess", "Popen"
    subprocess.Popen = Popen
    for name in ("popen", "spawnl", "spawnv"):
        if hasattr(os, name):
            setattr(os, name, refused)
    import multiprocessing
    import multiprocessing.context
    import multiprocessing.process

    multiprocessing.process.BaseProcess.start = refused
    for name in ("Pool", "Manager", "Queue", "SimpleQueue", "JoinableQueue", "Pipe"):
        setattr(multiprocessing.context.BaseContext, name, refused)
        if hasattr(multiprocessing, name):
            setattr(multiprocessing, name, refused)
    import concurrent.futures.process

    concurrent.futures.process.ProcessPoolExecutor.__init__ = refused


def threads():
    import _thread
    import threading

    refused = _raiser(RuntimeError, "can't start new thread: this WebAssembly interpreter has one; more take a container engine, "
                      "which this server does not run")
    _thread.start_new_thread = _thread.start_new = refused
    _thread.start_joinable_thread = refused
    threading._start_new_thread = refused
    threading._start_joinable_thread = refused


class _Missing:
    """The last finder: names what is missing, and leaves find_spec() answering None."""

    def __init__(self, aliases):
        self._aliases = aliases

    def find_spec(self, name, path=None, target=None):
        if "." in name or sys._getframe(1).f_code.co_name != "_find_spec":
            return None
        if sys._getframe(2).f_code.co_name != "_find_and_load_unlocked":
            return None
        distribution = self._aliases.get(name, name)
        also = "" if distribution == name else f" (distribution {distribution})"
        raise ModuleNotFoundError(
            f"No module named {name!r}{also}: it is not in this sandbox and nothing can be installed here; "
            "trying again is useless, use the packages that the tool description lists",
            name=name,
        )


# Modules whose distribution has another name, for packages that are not here.
DISTRIBUTIONS = {
    "cv2": "opencv-python", "skimage": "scikit-image", "Crypto": "pycryptodome", "serial": "pyserial",
    "usb": "pyusb", "git": "GitPython", "jwt": "PyJWT", "dotenv": "python-dotenv", "docx": "python-docx",
    "pptx": "python-pptx", "fitz": "PyMuPDF", "magic": "python-magic", "OpenSSL": "pyOpenSSL",
    "google": "google-api-python-client", "win32api": "pywin32", "MySQLdb": "mysqlclient",
    "psycopg2": "psycopg2-binary", "attr": "attrs", "umap": "umap-learn", "faiss": "faiss-cpu",
    "sentence_transformers": "sentence-transformers", "telegram": "python-telegram-bot",
}


def packages():
    # Standard modules that this platform lacks say so in CPython's own words.
    sys.meta_path.append(_Missing(DISTRIBUTIONS))


def _absent(module, names):
    """Names that this platform does not have stay absent, with an error that says so."""

    def __getattr__(name):
        if name in names:
            raise AttributeError(_message(f"module {module.__name__!r} has no attribute {name!r} in this WebAssembly interpreter"))
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    module.__getattr__ = __getattr__


def absent():
    import os
    import signal

    _absent(os, {"system", "fork", "forkpty", "kill", "killpg", "execv", "execve", "execl", "execlp", "execvp", "execvpe",
                 "posix_spawn", "posix_spawnp", "spawnl", "spawnv", "wait", "waitpid", "pipe", "dup", "dup2", "getppid",
                 "getuid", "geteuid", "getgid", "setuid", "chown", "mkfifo", "umask", "openpty", "sched_getaffinity"})
    _absent(signal, {"alarm", "setitimer", "pause", "sigwait", "pthread_kill"})


def install():
    absent()
    network()
    processes()
    threads()
    packages()
