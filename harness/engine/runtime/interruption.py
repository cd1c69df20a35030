"""Turn Ctrl-C into a request to stop, for work that can stop only at certain points."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interruption:
    """A context manager that sets `happened` to True at the first Ctrl-C. A second Ctrl-C raises KeyboardInterrupt.

    Outside of the main thread, the context manager has no effect.
    """

    def __init__(self) -> None:
        self.happened = False
        self._before: Any = None

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.happened = True
        self._restore()

    def _restore(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
