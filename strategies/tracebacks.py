"""Leave out the frames of epochfuzz in the tracebacks that pytest shows.

A module asks pytest for this with `__tracebackhide__ = hides_frames`. `pytest --full-trace` shows the frames.
"""

from pathlib import Path
from typing import Any

_HOME = Path(__file__).resolve().parents[1]


def hides_frames(failure: Any) -> bool:
    """Return whether pytest leaves out the frames of epochfuzz. `failure` is a `pytest.ExceptionInfo`.

    The result is True for a failed check, because its message explains the failure, and for an exception from the
    user's code, because the user's own frames are enough. The result is False for an exception from inside epochfuzz,
    an internal error.
    """
    if isinstance(failure.value, AssertionError):
        return True
    trace = failure.tb
    while trace.tb_next is not None:
        trace = trace.tb_next
    return not Path(trace.tb_frame.f_code.co_filename).resolve().is_relative_to(_HOME)
