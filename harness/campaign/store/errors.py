"""The errors that campaigns raise. The message of each error is one sentence for the user."""

import re


class CampaignError(Exception):
    """A campaign cannot start, resume or be read. The message gives the reason and the remedy."""


class NonDeterminismError(Exception):
    """Two runs of equal schedules had different results. The message names the schedules."""


_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_PYTHON_ERROR = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)")
_OUR_NAME = re.compile(r"^epochfuzz\.[\w.]+: ")  # the qualified class name before the message of our own exceptions
_JAVA_ERROR = re.compile(
    r"^(?:Caused by: |Exception in thread \S+ |: )?[\w.$]+(?:Exception|Error): (.+)$", re.MULTILINE
)


def sentence(text: str) -> str:
    """Return the innermost cause in the text of a Spark error or log, as one line."""
    missing = _MISSING_MODULE.search(text)
    if missing:
        return f"a worker lacks {missing[1]}; install the dependencies of epochfuzz on each machine with executors"
    for pattern in (_PYTHON_ERROR, _JAVA_ERROR):
        reasons = pattern.findall(text)
        if reasons:
            return _OUR_NAME.sub("", str(reasons[-1]).strip())
    return next(filter(None, map(str.strip, text.splitlines())), "Spark gives no reason")
