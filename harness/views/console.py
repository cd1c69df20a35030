"""The console for output to people. It makes all printed text safe for a terminal."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from epochfuzz.harness.text.printable import paragraphs


class PrintableConsole(Console):
    """Escape unprintable characters of an adapter's output, a file or its name, and keep the console's colours."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the output, segment by segment. A table that is too wide continues a long cell in the next line."""
        if isinstance(renderable, Table):
            for column in renderable.columns:
                column.overflow = "fold"  # an ellipsis would make different ids look equal
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(paragraphs(segment.text), segment.style)
