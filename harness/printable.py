"""Printable text: whatever others wrote, as a terminal, a log or a case file can be trusted with it.

An escape sequence can rewrite what a terminal shows, or reach its clipboard; U+202E and its like show a text as what it
is not. Here such characters are spelled out, as \\x1b: they can be seen, and do nothing.
"""


def printable(text: str, keep: str = "") -> str:
    """Return the text with whatever is not printable spelled out, as `\\x1b`; `keep` has the characters that stay."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def paragraphs(text: str) -> str:
    """Printable text that keeps its line ends and tabs."""
    return printable(text, keep="\n\t")
