"""The log of a replica: a file of batches, and where each of them starts."""

import os

from tests.conform.subject.disk import Disk
from tests.conform.subject.records import Batch, batch


class Log:
    """Offsets start at 0 and every batch has one record, so that a batch's place in the list is its offset."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self.batches = self.recover()
        self._file = os.open(disk.log, os.O_RDWR | os.O_APPEND)

    def recover(self) -> list[Batch]:
        """What is sound of the file. A torn batch at its end was never acknowledged to anybody."""
        sound = self._disk.read_log()
        os.truncate(self._disk.log, sum(len(one.data) for one in sound))
        return sound

    @property
    def end(self) -> int:
        """Log end offset: the offset of the next record."""
        return len(self.batches)

    def append(self, epoch: int, record: str) -> None:
        """Append a record of a client."""
        self.append_batch(batch(self.end, epoch, record))

    def append_batch(self, one: Batch) -> None:
        """Append a batch as it came from the leader."""
        os.write(self._file, one.data)
        self.batches.append(one)

    def read(self, start: int, count: int) -> bytes:
        """Batches from an offset on, as they are in the file."""
        first = self.position(start)
        return os.pread(self._file, self.position(min(start + count, self.end)) - first, first)

    def cut(self, end: int) -> None:
        """Remove what is at or beyond the offset `end`."""
        size = self.position(end)
        os.truncate(self._file, size)
        self._disk.sync_length(size)
        del self.batches[end:]

    def position(self, offset: int) -> int:
        """Where in the file a batch starts."""
        return sum(len(one.data) for one in self.batches[:offset])

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
