"""What can go wrong with a campaign through no fault of epochfuzz, each said in a sentence."""

import re


class CampaignError(Exception):
    """A campaign that cannot start, go on or be read; the message says why and what to do."""


class NonDeterminismError(Exception):
    """The same schedules came out differently; the message says which."""


_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_PYTHON_ERROR = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)")
_OUR_NAME = re.compile(r"^epochfuzz\.[\w.]+: ")  # of an exception's class
_JAVA_ERROR = re.compile(
    r"^(?:Caused by: |Exception in thread \S+ |: )?[\w.$]+(?:Exception|Error): (.+)$", re.MULTILINE
)


def sentence(text: str) -> str:
    """Return what an error of Spark says, or a log of it: the innermost reason in one line, no stack trace."""
    missing = _MISSING_MODULE.search(text)
    if missing:
        return f"a worker lacks {missing[1]}; install what epochfuzz depends on wherever executors run"
    for pattern in (_PYTHON_ERROR, _JAVA_ERROR):
        reasons = pattern.findall(text)
        if reasons:
            return _OUR_NAME.sub("", str(reasons[-1]).strip())
    return next(filter(None, map(str.strip, text.splitlines())), "it gives no reason")
