"""Suggestions for mistyped names."""

import difflib
from collections.abc import Iterable


def nearest(word: str, names: Iterable[str], all_of_them: str = "there is") -> str:
    """Return a suggestion for a wrong name, such as `did you mean 'fetch'?`.

    If no name is similar, returns the list of all names, with `all_of_them` in front: `the events are produce, fetch`.
    """
    known = list(names)
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"{all_of_them} {', '.join(known)}"
