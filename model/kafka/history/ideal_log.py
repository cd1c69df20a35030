"""The ideal log, with retries: the record that consumers saw at each offset, which must never change.

Without retries a record has one offset, that of its first append, and the set of exposed records is enough. A record
that a producer sends again may be appended at another offset, so a guarantee is about an offset. `seen` is a log in the
format of log.py, and `seen_end` is its end. The log is written once. If another record becomes readable at an offset
that consumers have read, that is a loss.
"""

from collections.abc import Iterator

from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.state import Partition, State


def expose(p: State, r: int, start: int) -> None:
    """Record that consumers may read from `start` to the high watermark of r."""
    for offset in range(min(start, p.seen_end), p.high_watermark[r]):
        record = log.at(p.log_record[r], offset)
        if offset >= p.seen_end:
            p.seen |= record << (4 * offset)  # the bits from `seen_end` on are zero
            p.seen_end = offset + 1
        elif record != log.at(p.seen, offset):
            p.seen_otherwise = 1


def is_contradicted(p: State, r: int) -> bool:
    """Return whether r's log differs from the records that consumers saw, or they saw two records at one offset."""
    return p.seen_otherwise != 0 or p.leo[r] < p.seen_end or log.prefix(p.seen ^ p.log_record[r], p.seen_end) != 0


def lost(p: Partition, r: int) -> Iterator[tuple[int, int]]:
    """Yield (offset, record) for each record that consumers saw and that r does not have at that offset."""
    for offset in range(p.seen_end):
        record = log.at(p.seen, offset)
        if offset >= p.leo[r] or log.at(p.log_record[r], offset) != record:
            yield offset, record
