"""Waiting for a condition, never for a time."""

import time
from collections.abc import Callable
from typing import TypeVar

from epochfuzz.harness.cluster.errors import NotReached

_BETWEEN_LOOKS = 0.005  # seconds: a follower's second chance comes after one

T = TypeVar("T")


def until(what: str, condition: Callable[[], T], seconds: float, check: Callable[[], None] = lambda: None) -> T:
    """Return what the condition gives as soon as that counts as true. Raises NotReached, and what `check` does."""
    ends = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        check()
        if time.monotonic() > ends:
            raise NotReached(f"waited {seconds:g} s for this, and it did not come: {what}")
        time.sleep(_BETWEEN_LOOKS)
