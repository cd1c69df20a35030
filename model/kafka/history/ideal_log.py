"""The ideal log, where there are retries: what consumers saw at each offset, which must stay as it is for ever.

Without retries a record has one offset, that of its first append, and a set of the exposed records says it all. A
record that is sent again may be appended anew, elsewhere; then a promise is about an offset. `seen` is a log as log.py
has it, `seen_end` where it ends. It is written once: another record readable at an offset that has been read is itself
a loss.
"""

from collections.abc import Iterator

from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.state import Partition, State


def expose(p: State, r: int, start: int) -> None:
    """Consumers may read from `start` to the high watermark of r."""
    for offset in range(min(start, p.seen_end), p.high_watermark[r]):
        record = log.at(p.log_record[r], offset)
        if offset >= p.seen_end:
            p.seen |= record << (4 * offset)
            p.seen_end = offset + 1
        elif record != log.at(p.seen, offset):
            p.seen_otherwise = 1


def is_contradicted(p: State, r: int) -> bool:
    """Whether r's log is not what consumers saw, as far as they have seen, or they saw two things."""
    return p.seen_otherwise != 0 or p.leo[r] < p.seen_end or log.prefix(p.seen ^ p.log_record[r], p.seen_end) != 0


def lost(p: Partition, r: int) -> Iterator[tuple[int, int]]:
    """(offset, record) of what consumers saw and is not there on r."""
    for offset in range(p.seen_end):
        record = log.at(p.seen, offset)
        if offset >= p.leo[r] or log.at(p.log_record[r], offset) != record:
            yield offset, record
