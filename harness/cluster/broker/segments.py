"""Read the records of a replica from its segment files, while the broker writes them.

Supports message format 2 (KIP-98), uncompressed, see https://kafka.apache.org/documentation/#recordbatch.
DumpLogSegments reads the same files, but takes a second to start. In one second, a follower often truncates records and
fetches them again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from epochfuzz.harness.cluster.record_format.batches import BEFORE_LENGTH_COUNTS, CONTROL, HEADER, records_in
from epochfuzz.harness.documents.cluster_records import Record


@dataclass(frozen=True)
class Batch:
    """A record batch: its base offset, its leader epoch, and its bytes including the header.

    A control batch has no records of clients.
    """

    offset: int
    epoch: int
    is_control: bool
    data: bytes

    def records(self) -> list[tuple[int, bytes]]:
        """Return the offset and the value of each record."""
        *_, count = HEADER.unpack_from(self.data)
        found = records_in(self.data[HEADER.size :], self.offset, count)
        return [(each.offset, each.value or b"") for each in found]


def records(directory: Path) -> list[Record]:
    """Return the records in a partition's data directory. Empty if the directory doesn't exist yet."""
    found: list[Record] = []
    for segment in sorted(directory.glob("*.log")):
        for batch in batches(segment.read_bytes()):
            if not batch.is_control:
                found += [
                    Record(offset, batch.epoch, value.decode(errors="replace")) for offset, value in batch.records()
                ]
    return found


def batches(data: bytes) -> Iterator[Batch]:
    """Yield the complete batches in the bytes of a segment file."""
    at = 0
    while at + HEADER.size <= len(data):
        base, length, epoch, _, _, attributes, *_ = HEADER.unpack_from(data, at)
        end = at + BEFORE_LENGTH_COUNTS + length
        if end > len(data) or length <= 0:
            return  # still being written
        yield Batch(base, epoch, bool(attributes & CONTROL), data[at:end])
        at = end
