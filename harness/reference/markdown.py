"""Write tables and paragraphs in Markdown."""

import textwrap
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with a head and rows. The character | in a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


def wrapped(text: str, indent: str = "", width: int = 120) -> str:
    """Return a paragraph in lines of at most `width` columns. All lines but the first begin with `indent`."""
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
