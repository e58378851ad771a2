"""An asyncio event loop for one thread without sockets.

CPython's loop wakes its selector through a socket pair, which WASI does not have. Here nothing
can wake a sleeping loop, so it needs no pair: it sleeps until the next timer, and when neither a
callback nor a timer is left it says that it would wait for ever.
"""

import asyncio
import selectors
import time


class _Sleeper(selectors.BaseSelector):
    """A selector that watches nothing and sleeps exactly."""

    def register(self, fileobj, events, data=None):
        raise OSError(95, "this sandbox has no sockets and no pipes to wait for")

    def unregister(self, fileobj):
        raise KeyError(fileobj)

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError(
                "the event loop would wait for ever: no task can run and no timer is set "
                "(there are no threads, sockets or processes in this sandbox that could wake it)"
            )
        if timeout > 0:
            time.sleep(timeout)
        return []

    def get_map(self):
        return {}

    def close(self):
        pass


class SandboxEventLoop(asyncio.selector_events.BaseSelectorEventLoop):
    def __init__(self, selector=None):
        super().__init__(_Sleeper())

    def _make_self_pipe(self):
        self._ssock = self._csock = None
        self._internal_fds = 0

    def _close_self_pipe(self):
        pass

    def _write_to_self(self):
        pass

    def add_signal_handler(self, sig, callback, *args):
        raise NotImplementedError("there are no signals in this sandbox")

    def remove_signal_handler(self, sig):
        return False

    def run_in_executor(self, executor, func, *args):
        if executor is None:
            raise RuntimeError("can't start new thread: this WebAssembly interpreter has one thread, so nothing can run "
                               "beside the event loop; call the function directly (this is the sandbox: trying again is useless)")
        return super().run_in_executor(executor, func, *args)


def install():
    asyncio.SelectorEventLoop = SandboxEventLoop
    asyncio.EventLoop = SandboxEventLoop
    events = asyncio.events
    policy = getattr(events, "_BaseDefaultEventLoopPolicy", None) or events.BaseDefaultEventLoopPolicy
    policy._loop_factory = SandboxEventLoop
    for name in ("_DefaultEventLoopPolicy", "DefaultEventLoopPolicy", "_UnixDefaultEventLoopPolicy"):
        for module in (asyncio, events, getattr(asyncio, "unix_events", None)):
            if module is not None and hasattr(module, name):
                getattr(module, name)._loop_factory = SandboxEventLoop
