"""Wait until a condition is true."""

import time
from collections.abc import Callable
from typing import TypeVar

from epochfuzz.harness.cluster.errors import NotReached

_BETWEEN_LOOKS = 0.005  # seconds; shorter than a follower's retry interval of 1 s

T = TypeVar("T")


def until(what: str, condition: Callable[[], T], seconds: float, check: Callable[[], None] = lambda: None) -> T:
    """Wait until the condition returns a true value, and return that value. `what` names the condition in messages.

    Raises NotReached after `seconds`. `check` is called each time the condition is not true, and may raise an
    exception.
    """
    ends = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        check()
        if time.monotonic() > ends:
            raise NotReached(f"not reached within {seconds:g} s: {what}")
        time.sleep(_BETWEEN_LOOKS)
