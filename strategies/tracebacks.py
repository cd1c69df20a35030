"""Leave out the frames of epochfuzz in the tracebacks that pytest shows.

A module with `__tracebackhide__ = hides_frames` asks pytest for this. `pytest --full-trace` shows the frames.
"""

from pathlib import Path
from typing import Any

_HOME = Path(__file__).resolve().parents[1]


def hides_frames(failure: Any) -> bool:
    """Return whether pytest leaves out the frames of epochfuzz. `failure` is a `pytest.ExceptionInfo`.

    A failed check explains itself, and for an exception in the user's code the user's frames are enough. An exception
    that epochfuzz itself raised through an internal error keeps all frames.
    """
    if isinstance(failure.value, AssertionError):
        return True
    trace = failure.tb
    while trace.tb_next is not None:
        trace = trace.tb_next
    return not Path(trace.tb_frame.f_code.co_filename).resolve().is_relative_to(_HOME)
