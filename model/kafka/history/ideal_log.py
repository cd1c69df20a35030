"""The log as consumers saw it: for each readable offset, the first record that consumers could read there.

The model needs this log only if producers retry. Without retries a record has one offset, and the set of readable
records is enough. With retries, a record may be appended again at another offset. So consumers have the guarantee that
each offset keeps its record. The field `seen` is this log in the format of log.py, and `seen_end` is its end. If
another record becomes readable at an offset of this log, the first record at this offset is lost.
"""

from collections.abc import Iterator

from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.state import Partition, State


def expose(p: State, r: int, start: int) -> None:
    """Add r's records from offset `start` to r's high watermark to the log that consumers saw.

    Sets `seen_otherwise` if another record is already at one of these offsets.
    """
    for offset in range(min(start, p.seen_end), p.high_watermark[r]):
        record = log.at(p.log_record[r], offset)
        if offset >= p.seen_end:
            p.seen |= record << (4 * offset)  # the bits from `seen_end` on are zero
            p.seen_end = offset + 1
        elif record != log.at(p.seen, offset):
            p.seen_otherwise = 1


def is_contradicted(p: State, r: int) -> bool:
    """Return whether r's log lacks a record that consumers saw, or whether consumers saw two records at one offset."""
    return p.seen_otherwise != 0 or p.leo[r] < p.seen_end or log.prefix(p.seen ^ p.log_record[r], p.seen_end) != 0


def lost(p: Partition, r: int) -> Iterator[tuple[int, int]]:
    """Yield (offset, record id) for each record that consumers saw and that r's log does not have at that offset."""
    for offset in range(p.seen_end):
        record = log.at(p.seen, offset)
        if offset >= p.leo[r] or log.at(p.log_record[r], offset) != record:
            yield offset, record
