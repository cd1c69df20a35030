"""Read and write the fields of Kafka's binary formats: numbers of a fixed size, varints, and bytes after their length.

https://kafka.apache.org/protocol#protocol_types describes these types.
"""

_LONGEST_VARINT = 10  # bytes


class MalformedBytes(Exception):
    """Bytes do not have the expected format."""


class Bytes:
    """Bytes whose fields are read from front to back. Raises MalformedBytes if too few bytes are left."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def rest(self) -> int:
        """The number of bytes that are left."""
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        if not 0 <= size <= self.rest:
            raise MalformedBytes(f"{size} bytes are announced, and {self.rest} are left")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, size: int) -> int:
        """Return a signed number of `size` bytes."""
        return int.from_bytes(self.take(size), "big", signed=True)

    def unsigned(self) -> int:
        """Return an unsigned varint."""
        number = 0
        for index in range(_LONGEST_VARINT):
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << 7 * index
            if not byte & 0x80:
                return number
        raise MalformedBytes("a varint does not end")

    def zigzag(self) -> int:
        """Return a signed varint."""
        number = self.unsigned()
        return (number >> 1) ^ -(number & 1)

    def nullable(self) -> bytes | None:
        """Read a length (a signed varint) and that number of bytes. Returns the bytes, or None if the length is -1."""
        size = self.zigzag()
        return None if size == -1 else self.take(size)


def varint(number: int) -> bytes:
    """Return the bytes of an unsigned varint."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def zigzag(number: int) -> bytes:
    """Return the bytes of a signed varint."""
    return varint(number << 1 ^ number >> 63)
