"""Tracebacks of failures without the frames of epochfuzz, as pytest shows them.

A module with `__tracebackhide__ = hides_frames` asks pytest to leave out its frames. `pytest --full-trace` shows them.
"""

from pathlib import Path
from typing import Any

_HOME = Path(__file__).resolve().parents[1]


def hides_frames(failure: Any) -> bool:
    """Return whether pytest hides frames of epochfuzz from a failure, a `pytest.ExceptionInfo`.

    A violation and a difference say all that is needed. In an exception of the user's code the user's frames do. An
    exception that an internal error of epochfuzz raised keeps its frames.
    """
    if isinstance(failure.value, AssertionError):
        return True
    trace = failure.tb
    while trace.tb_next is not None:
        trace = trace.tb_next
    return not Path(trace.tb_frame.f_code.co_filename).resolve().is_relative_to(_HOME)
