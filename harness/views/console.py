"""The console: where commands print for people, who can trust their terminal with whatever is printed."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from epochfuzz.harness.printable import paragraphs


class PrintableConsole(Console):
    """Spells out what is not printable, be it of a subject, of a file or of its name. Its own colours stay."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what is printed, piece by piece."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(paragraphs(segment.text), segment.style)
