"""One script, from the request on standard input to the report in the control folder.

The report is written by the interpreter that the script ran in, so the host believes none of it:
it is what the script says of itself, and bounded there. What happened is the host's to judge.
"""

import _io
import ast
import builtins
import errno
import gc
import io
import json
import linecache
import os
import sys
import traceback
import types

from _json import encode_basestring_ascii as _quote

from _sallyport import entropy, figures

SCRIPT = "/workspace/script.py"
REPORT = "/.sallyport/report.json"
_LIMITS = {
    errno.ENOSPC: "disk space and number of files",
    errno.EFBIG: "the size of a file",
    errno.EMFILE: "open files",
}
_TOP_LEVEL_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_FUTURES = 0
_exit = None  # the system's exit, taken before a script can replace it
_open, _write, _close = os.open, os.write, os.close
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_report = {}


def prepare():
    """Done once, at build time."""
    global _exit, _FUTURES
    import __future__
    import posix

    for name in __future__.all_feature_names:
        _FUTURES |= getattr(__future__, name).compiler_flag
    _hide_own_frames()
    leave = posix._exit
    _exit = leave

    def exit_now(status):
        """os._exit: no handlers, no flushing; but the status is reported whatever it is."""
        _finish(_int_status(status))

    exit_now.__name__ = exit_now.__qualname__ = "_exit"
    os._exit = posix._exit = exit_now


def _hide_own_frames():
    """Tracebacks show what the script called, not the stand-ins that answered."""
    walk = traceback._walk_tb_with_full_positions

    def without_ours(trace):
        for item in walk(trace):
            if not item[0].f_code.co_filename.startswith("<sallyport>/"):
                yield item

    traceback._walk_tb_with_full_positions = without_ours
    walk_stack = traceback.walk_stack

    def stack_without_ours(frame):
        for item in walk_stack(frame if frame is not None else sys._getframe(1)):
            if not item[0].f_code.co_filename.startswith(("<sallyport>/", "<turn ", "<reactor>")):
                yield item

    traceback.walk_stack = stack_without_ours


def _read_exactly(n):
    parts = []
    while n:
        part = os.read(0, min(n, 1 << 20))
        if not part:
            _exit(9)
        parts.append(part)
        n -= len(part)
    return b"".join(parts)


def _streams():
    """Fresh standard streams; output is not buffered, so a time-out loses nothing."""
    # A script on another device than a terminal reads what it is given, then end of file.
    source = io.FileIO(0, "r", closefd=False)
    source.name = "<stdin>"
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(source), "utf-8", "surrogateescape", newline="\n")
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(
        _Out(1, "<stdout>"), "utf-8", "strict", newline="\n", write_through=True)
    sys.stderr = sys.__stderr__ = io.TextIOWrapper(
        _Out(2, "<stderr>"), "utf-8", "backslashreplace", newline="\n", write_through=True)
    for stream, mode in ((sys.stdin, "r"), (sys.stdout, "w"), (sys.stderr, "w")):
        stream.mode = mode


class _Out(io.FileIO):
    """An unbuffered stream, as with python -u, that writes all of a large piece: the runtime takes
    only so much at once."""

    def __init__(self, fd, name):
        super().__init__(fd, "w", closefd=False)
        self.name = name

    def write(self, data, _write=io.FileIO.write):
        if data.__class__ is bytes and len(data) <= 32768:
            return _write(self, data)
        view = memoryview(data).cast("B")
        size = len(view)
        for start in range(0, size, 32768):
            rest = view[start : start + 32768]
            while rest:
                rest = rest[_write(self, rest) :]
        return size


def main():
    size = int.from_bytes(_read_exactly(4), "little")
    request = json.loads(_read_exactly(size))
    entropy.refresh()
    os.chdir("/workspace")
    # As the file reader of CPython takes a source: a mark in front goes, and every kind of line end counts.
    code = request["code"].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    figures.begin(request["figure_bytes"])
    _report["limit"] = request["result_chars"]
    module = types.ModuleType("__main__")
    space = module.__dict__
    space["__builtins__"] = builtins
    space["__file__"] = SCRIPT
    sys.modules["__main__"] = module
    sys.argv[:] = [SCRIPT]
    # As for a script in that folder: it may import what it wrote, and what it was given.
    sys.path[:0] = ["/workspace", "/workspace/input"]
    _streams()
    linecache.cache[SCRIPT] = (len(code), None, _lines(code), SCRIPT)
    del request
    try:
        status = _run(code, space)
    except BaseException:
        status = 1  # the script has broken what ends it; what it printed stands
    _finish(status, space)


def _lines(code):
    """Lines as the tokenizer counts them: form feeds and Unicode separators end none."""
    lines = code.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _run(code, space):
    try:
        try:
            _execute(code, space)
        finally:
            # What plt.show() would have shown, also when the script failed later.
            figures.collect()
    except SystemExit as leaving:
        return _status(leaving)
    except BaseException as error:
        return _uncaught(error)
    return 0


def _execute(code, space):
    tree = compile(code, SCRIPT, "exec", ast.PyCF_ONLY_AST | _TOP_LEVEL_AWAIT, dont_inherit=True)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not _silenced(code, tree.body[-1]):
        last = tree.body.pop()
    body = compile(tree, SCRIPT, "exec", _TOP_LEVEL_AWAIT, dont_inherit=True)
    if last is None:
        _evaluate(body, space)
        return
    if not tree.body and isinstance(last.value, ast.Constant) and isinstance(last.value.value, str):
        space["__doc__"] = last.value.value
    value = compile(ast.Expression(last.value), SCRIPT, "eval",
                    _TOP_LEVEL_AWAIT | body.co_flags & _FUTURES, dont_inherit=True)
    result = _evaluate_both(body, value, space)
    if result is not None:
        _keep_result(result)


def _silenced(code, node):
    """Says whether a semicolon follows the last expression."""
    line = code.split("\n")[node.end_lineno - 1].encode()[node.end_col_offset :]
    return line.lstrip().startswith(b";")


def _is_coroutine(code):
    return bool(code.co_flags & 0x80)


def _evaluate(code, space):
    if not _is_coroutine(code):
        return eval(code, space)
    import asyncio

    return asyncio.run(eval(code, space))


def _evaluate_both(body, value, space):
    if not _is_coroutine(body):
        _evaluate(body, space)
        return _evaluate(value, space)
    import asyncio

    async def both():
        await eval(body, space)
        result = eval(value, space)
        return await result if _is_coroutine(value) else result

    return asyncio.run(both())


def _keep_result(value):
    try:
        text = str.__str__(repr(value))
    except Exception as error:
        # The script itself shows nothing here; that its value cannot be shown does not fail it.
        sys.stderr.write(f"the result could not be shown: {error.__class__.__name__}: {error}\n")
        return
    limit = _report["limit"]
    total = len(text)
    _report["result_chars"] = total
    if total > limit:
        head = limit * 2 // 5
        _report["result_head"] = text[:head]
        _report["result_tail"] = text[total - (limit - head) :]
    else:
        _report["result"] = text


def _int_status(value):
    try:
        return int(value) & 0xFF
    except (TypeError, ValueError, OverflowError):
        return 255


def _status(leaving):
    """The exit status that CPython gives for this SystemExit."""
    code = leaving.code
    if code is None:
        return 0
    if isinstance(code, int):
        value = int.__index__(code)
        return value & 0xFF if -(2**63) <= value < 2**63 else 255
    try:
        sys.stderr.write(str(code) + "\n")
    except BaseException:
        pass
    return 1


_reserve = bytearray(4 << 20)  # for telling of an error when the script has used up all memory


def _annotate(error):
    if isinstance(error, SyntaxError):
        _hint(error)
    elif isinstance(error, OSError) and error.errno in _LIMITS:
        error.add_note(f"This is the sandbox's limit of {_LIMITS[error.errno]}: trying again is useless, use less of it.")


def _uncaught(error):
    global _reserve
    _reserve = None
    kind = type(error)
    trace = None
    try:
        trace = _own_frames(error.__traceback__)
        error.__traceback__ = trace
        _annotate(error)
    except BaseException:
        pass  # an error that does not let itself be looked at
    hook = sys.excepthook
    try:
        if hook is not sys.__excepthook__:
            hook(kind, error, trace)
        else:
            traceback.print_exception(kind, error, trace, file=sys.stderr)
    except SystemExit as leaving:
        return _status(leaving)
    except BaseException as second:
        second.__context__ = None
        try:
            sys.stderr.write("Error in sys.excepthook:\n")
            traceback.print_exception(second, file=sys.stderr)
            sys.stderr.write("\nOriginal exception was:\n")
            traceback.print_exception(kind, error, trace, file=sys.stderr)
        except BaseException:
            _write(2, kind.__name__.encode("utf-8", "replace") + b"\n")
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def _own_frames(trace):
    """Leaves out the frames of this file and of asyncio's runner above the script."""
    first = trace
    while first is not None and first.tb_frame.f_code.co_filename != SCRIPT:
        first = first.tb_next
    return first


def _hint(error):
    if error.text is None and error.filename == SCRIPT and error.lineno:
        # The compiler proper has no source at hand; the parser has.
        error.text = linecache.getline(SCRIPT, error.lineno) or None
    line = (error.text or "").lstrip()
    if line[:1] in ("!", "%"):
        error.add_note("Lines that start with ! or % are notebook commands; this is plain Python. Nothing was run, "
                       "and nothing can be installed: use the packages that the tool description lists.")
    elif line.rstrip().endswith("?"):
        error.add_note("A trailing ? is notebook syntax; use help(...) instead. Nothing was run.")


def _finish(status, space=None):
    """Ends the interpreter as CPython's finalisation would, then reports."""
    if space is not None:
        status = _shut_down(space) or status
    saved, skipped = figures.counts()
    report = {
        "exit_code": status,
        "figures": saved,
        "figures_skipped": skipped,
        **{k: v for k, v in _report.items() if k != "limit"},
    }
    try:
        fd = _open(REPORT, _CREATE)
        data = _dump(report)
        while data:
            data = data[_write(fd, data[:65536]) :]
        _close(fd)
    finally:
        _exit(0)


def _dump(report):
    """JSON in ASCII, by means that a script which has replaced those of the json module keeps whole."""
    parts = []
    for key, value in report.items():
        parts.append(_quote(key) + ": " + (_quote(value) if value.__class__ is str else str(int(value))))
    return ("{" + ", ".join(parts) + "}").encode()


def _shut_down(space):
    import atexit

    failed = 0
    try:
        threading = sys.modules.get("threading")
        if threading is not None:
            threading._shutdown()
        atexit._run_exitfuncs()
    except SystemExit as leaving:
        failed = _status(leaving)
    except BaseException:
        try:
            traceback.print_exc(file=sys.stderr)
        except BaseException:
            pass
    for private in (True, False):
        for name in list(space):
            if name != "__builtins__" and (name.startswith("_") and not name.startswith("__")) is private:
                try:
                    space[name] = None
                except BaseException:
                    pass
    try:
        gc.collect()
    except BaseException:
        pass
    _flush()
    return failed


def _flush():
    """Writes what files that were never closed still hold."""
    try:
        _flush_files()
    except BaseException:
        pass
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass


def _flush_files():
    kinds = (_io.TextIOWrapper, _io.BufferedWriter, _io.BufferedRandom)
    open_files = [f for f in gc.get_objects() if isinstance(f, kinds)]
    # Text layers first: they hand on to the buffers below them.
    for kind in kinds:
        for file in open_files:
            if isinstance(file, kind):
                try:
                    if not file.closed:
                        file.flush()
                except BaseException:
                    pass
