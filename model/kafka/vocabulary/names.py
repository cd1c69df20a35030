"""Suggestions for mistyped names."""

import difflib
from collections.abc import Iterable


def nearest(word: str, names: Iterable[str], all_of_them: str = "there is") -> str:
    """Return a suggestion for a wrong name: the nearest name, or a list such as `the events are produce, fetch`.

    `all_of_them` is the beginning of the list.
    """
    known = list(names)
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"{all_of_them} {', '.join(known)}"
