"""Signals that end a command: SIGTERM acts like Ctrl-C, and the exit code tells the shell which signal it was."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def as_ctrl_c() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, with the handler that SIGINT has at that time. The exit code is 143."""
    terminated = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal terminated
        terminated = True
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # shells start background commands with SIGINT ignored
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        if terminated:
            sys.exit(128 + signal.SIGTERM)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
