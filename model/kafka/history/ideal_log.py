"""The ideal log for producers that retry: the record that consumers saw at each offset. It must never change.

Without retries a record has only one offset, where it was first appended, so the set of exposed records is enough. A
record that a producer sends again may be appended at another offset, so the guarantee is about the offset. `seen` is a
log in the format of log.py, and `seen_end` is its end. No offset of this log is written twice. If another record
becomes readable at an offset that consumers have read, that is a loss.
"""

from collections.abc import Iterator

from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.state import Partition, State


def expose(p: State, r: int, start: int) -> None:
    """Add r's records from offset `start` to its high watermark, because consumers may read them now."""
    for offset in range(min(start, p.seen_end), p.high_watermark[r]):
        record = log.at(p.log_record[r], offset)
        if offset >= p.seen_end:
            p.seen |= record << (4 * offset)  # the bits from `seen_end` on are zero
            p.seen_end = offset + 1
        elif record != log.at(p.seen, offset):
            p.seen_otherwise = 1


def is_contradicted(p: State, r: int) -> bool:
    """Return whether r's log differs from the records that consumers saw, or they saw two records at some offset."""
    return p.seen_otherwise != 0 or p.leo[r] < p.seen_end or log.prefix(p.seen ^ p.log_record[r], p.seen_end) != 0


def lost(p: Partition, r: int) -> Iterator[tuple[int, int]]:
    """Yield (offset, record) for each record that consumers saw, if r does not have it at that offset."""
    for offset in range(p.seen_end):
        record = log.at(p.seen, offset)
        if offset >= p.leo[r] or log.at(p.log_record[r], offset) != record:
            yield offset, record
