"""Convert drawings to plain text for files and failure reports: at most 100 columns wide, and without colours."""

import io

from rich.console import Console, RenderableType

from epochfuzz.harness.views.unpadded import without_padding

_WIDTH = 100


def drawn(drawing: RenderableType) -> str:
    """Return a drawing as plain text without trailing spaces."""
    text = io.StringIO()
    Console(file=text, width=_WIDTH, color_system=None, emoji=False).print(drawing)
    return without_padding(text.getvalue())
