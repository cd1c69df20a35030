"""Text without the spaces at the ends of lines that rich pads tables and drawings with."""

from typing import IO, Any


def without_padding(text: str) -> str:
    """Return the text, its lines without spaces at their ends; a last line that is not ended stays as it is."""
    *lines, rest = text.split("\n")
    return "\n".join([*(line.rstrip(" ") for line in lines), rest])


class Unpadded:
    """A text stream that leaves out the padding of every line written to it; all else is the stream's."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write; rich writes lines whole."""
        return self._stream.write(without_padding(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
