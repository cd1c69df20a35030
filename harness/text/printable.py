"""Printable text: third-party text that is safe for a terminal, a log and a case file.

An escape sequence can rewrite the screen of a terminal, or access its clipboard. U+202E and similar characters disguise
a text. This module spells out such characters, for example as \\x1b, so that they are visible and have no effect.
"""


def printable(text: str, keep: str = "") -> str:
    """Return the text with unprintable characters spelled out, such as `\\x1b`. Characters in `keep` stay unchanged."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def paragraphs(text: str) -> str:
    """Return the text with unprintable characters spelled out. Line ends and tabs are not spelled out."""
    return printable(text, keep="\n\t")


def rate(events_per_second: float) -> str:
    """Return a number of events per second as text, such as `950/s` or `6.8 million/s`."""
    if events_per_second < 100_000:
        return f"{events_per_second:,.0f}/s"
    return f"{events_per_second / 1e6:.1f} million/s"
