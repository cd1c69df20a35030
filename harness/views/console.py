"""A rich console that makes all printed text safe for a terminal."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from epochfuzz.harness.text.printable import paragraphs


class PrintableConsole(Console):
    """A console that escapes unprintable characters, for example in an adapter's output. Colours stay."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the output, segment by segment.

        A table that is too wide wraps its cells instead of cutting them off.
        """
        if isinstance(renderable, Table):
            for column in renderable.columns:
                column.overflow = "fold"  # with an ellipsis, different ids could look equal
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(paragraphs(segment.text), segment.style)
