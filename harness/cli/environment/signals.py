"""Treat SIGTERM, SIGHUP and SIGQUIT like Ctrl-C, so that a command cleans up before it exits."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@contextmanager
def as_ctrl_c() -> Iterator[None]:
    """Treat SIGTERM, SIGHUP and SIGQUIT like Ctrl-C inside this block.

    The exit code is then 128 plus the number of the signal. SIGHUP and SIGQUIT stay ignored if the parent process
    ignores them, as `nohup` does with SIGHUP. Outside the main thread, the block has no effect.
    """
    ended_by: signal.Signals | None = None

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal ended_by
        ended_by = signal.Signals(number)
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # shells start background commands with SIGINT ignored
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = [each for each in _ENDING if each is signal.SIGTERM or signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, interrupt) for each in heard}
    try:
        yield
    except (KeyboardInterrupt, SystemError) as error:
        if not _is_interrupt(error):
            raise
        if ended_by is not None:
            sys.exit(128 + ended_by)
        if isinstance(error, SystemError):
            raise KeyboardInterrupt from None
        raise
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _is_interrupt(error: BaseException) -> bool:
    """Return whether an error is a KeyboardInterrupt, or the SystemError that replaces it in compiled code."""
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)
