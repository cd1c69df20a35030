"""A replica's log: which record, of which leader epoch, is at which offset.

Two words hold it, four bits for each offset: `log_record` has record ids, `log_epoch` leader epochs, and everything
at or beyond the log end offset (LEO) is zero. Fifteen offsets fit and the sign bit stays clear. Logs that are words are
compared, cut and copied whole, which is where the speed of the walk and of the exhaustive search comes from.

`standing` is the set of records that are where they belong: a record keeps the offset of its first append, on every
replica, so it is missing from a log, or another record is in its place, exactly when it is not standing there. With
retries that is not so, a record may be appended anew elsewhere, and nothing looks at it: see ideal_log.py.
"""

from epochfuzz.model.kafka.vocabulary.state import NONE, State

LAST_EPOCH = 15  # that a record can have: four bits have room for no later one


def prefix(word: int, end: int) -> int:
    """Return the part of a word below offset `end`."""
    return word & ((1 << (4 * end)) - 1)


def at(word: int, offset: int) -> int:
    """Return the record id or epoch that a word has at `offset`."""
    return (word >> (4 * offset)) & 15


def append(p: State, r: int, record: int, epoch: int) -> None:
    """Append to r's log; the caller has made sure that there is room."""
    offset = p.leo[r]
    p.log_record[r] |= record << (4 * offset)
    p.log_epoch[r] |= epoch << (4 * offset)
    if at(p.record_offset, record) == offset:
        p.standing[r] |= 1 << record
    p.leo[r] = offset + 1


def truncate(p: State, r: int, end: int) -> None:
    """Cut r's log to log end offset `end`; a truncation at or beyond its end changes nothing."""
    for offset in range(end, p.leo[r]):
        p.standing[r] &= ~(1 << at(p.log_record[r], offset))
    if end < p.leo[r]:
        p.log_record[r] = prefix(p.log_record[r], end)
        p.log_epoch[r] = prefix(p.log_epoch[r], end)
        p.leo[r] = end


def offset_of(p: State, r: int, record: int) -> int:
    """Return the offset at which r's log has a record, NONE where it does not have it; the first of several."""
    for offset in range(p.leo[r]):
        if at(p.log_record[r], offset) == record:
            return offset
    return NONE


def records_in(p: State, r: int) -> int:
    """Return the set of records that are in r's log, wherever."""
    found = 0
    for offset in range(p.leo[r]):
        found |= 1 << at(p.log_record[r], offset)
    return found


def lacks(p: State, r: int, other: int, end: int) -> bool:
    """Whether r does not have, each at its offset, all records that another replica has below `end`."""
    return p.leo[r] < end or prefix(p.log_record[other] ^ p.log_record[r], end) != 0


def occupied(word: int) -> int:
    """Return a word with 1 at each offset where `word` is not zero."""
    pairs = word | word >> 1
    return (pairs | pairs >> 2) & 0x111111111111111
