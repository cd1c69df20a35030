"""Remove the trailing spaces that rich adds as padding to tables and drawings."""

from typing import IO, Any


def without_padding(text: str) -> str:
    """Return the text without spaces at the ends of its lines. A last line without a line end stays unchanged."""
    *lines, rest = text.split("\n")
    return "\n".join([*(line.rstrip(" ") for line in lines), rest])


class Unpadded:
    """A text stream that removes the spaces at the end of every written line."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text to the stream. Complete lines lose their trailing spaces."""
        return self._stream.write(without_padding(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
