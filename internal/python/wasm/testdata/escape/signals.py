# Signals raised at itself.
#: ends failure crashed | failure killed | exit 0 | exit 1
import signal
for n in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError, AttributeError): pass
signal.raise_signal(signal.SIGSEGV)
