"""A replica's log: the record and the leader epoch at each offset.

Two 64-bit integers, called words, hold a log, with four bits for each offset. `log_record` has the record ids, and
`log_epoch` has the leader epochs. All bits from the log end offset (LEO) on are zero. A word has room for fifteen
offsets, because the sign bit stays clear. Rules compare, truncate and copy whole words, which makes random runs and
searches fast.

`standing[r]` is the set of records that r's log has at their own offset. Without retries a record's own offset is where
a leader first appended it. So a record outside `standing[r]` is missing, or another record has its place. With retries
a record may be appended again at another offset, and no rule reads `standing`: see ideal_log.py.
"""

from epochfuzz.model.kafka.vocabulary.in_force import begins_epochs, forgets_records, has_retention
from epochfuzz.model.kafka.vocabulary.state import NONE, State

LAST_EPOCH = 15  # the last epoch that a record can have, because four bits hold no greater number


def prefix(word: int, end: int) -> int:
    """Return `word` with zero at each offset from `end` on."""
    return word & ((1 << (4 * end)) - 1)  # the mask has four bits for each offset below `end`


def at(word: int, offset: int) -> int:
    """Return the record id or epoch at `offset` of a word."""
    return (word >> (4 * offset)) & 15


def append(p: State, r: int, record: int, epoch: int) -> None:
    """Append a record to r's log. The caller must make sure that the log has room."""
    offset = p.leo[r]
    p.log_record[r] |= record << (4 * offset)  # the bits from the LEO on are zero, so no mask is needed
    p.log_epoch[r] |= epoch << (4 * offset)
    if at(p.record_offset, record) == offset:
        p.standing[r] |= 1 << record
    p.leo[r] = offset + 1


def truncate(p: State, r: int, end: int) -> None:
    """Remove the records of r's log from offset `end` on. If the log starts beyond `end`, its start becomes `end`."""
    for offset in range(end, p.leo[r]):
        p.standing[r] &= ~(1 << at(p.log_record[r], offset))
    if end < p.leo[r]:
        p.log_record[r] = prefix(p.log_record[r], end)
        p.log_epoch[r] = prefix(p.log_epoch[r], end)
        p.leo[r] = end
        if begins_epochs(p) and p.epoch_offset[r] >= end:
            p.epoch_offset[r] = NONE
        if forgets_records(p) and p.snapshot_offset[r] > end:
            p.snapshot_offset[r] = 0
        if has_retention(p):
            p.log_start[r] = min(p.log_start[r], end)


def offset_of(p: State, r: int, record: int) -> int:
    """Return the first offset of a record in r's log, NONE if the log does not have the record."""
    for offset in range(p.leo[r]):
        if at(p.log_record[r], offset) == record:
            return offset
    return NONE


def records_in(p: State, r: int) -> int:
    """Return the set of records in r's log, bit i for record i. Bits 14 and 15 can be markers.

    With retention, bit 15 stands for deleted records.
    """
    found = 0
    for offset in range(p.leo[r]):
        found |= 1 << at(p.log_record[r], offset)
    return found


def lacks(p: State, r: int, other: int, end: int) -> bool:
    """Return whether r's log lacks a record that the log of the replica `other` has below the offset `end`.

    The other log must have at least `end` records.
    """
    return p.leo[r] < end or differences(p, other, r, end) != 0


def differences(p: State, r: int, other: int, end: int) -> int:
    """Return a word with nonzero bits at each offset below `end` where the logs of two replicas have different records.

    All other bits are zero, also where one of the logs has deleted its record.
    """
    if has_retention(p):
        return from_start(p, r, other, prefix(p.log_record[r] ^ p.log_record[other], end))
    return prefix(p.log_record[r] ^ p.log_record[other], end)


def from_start(p: State, r: int, other: int, word: int) -> int:
    """Return `word` with zero at each offset below the log start of replica `r` or replica `other`."""
    deleted = 4 * max(p.log_start[r], p.log_start[other])
    return word >> deleted << deleted


def occupied(word: int) -> int:
    """Return a word with 1 at each offset where `word` is not 0, and 0 at all other offsets."""
    pairs = word | word >> 1  # fold the four bits of each offset into its lowest bit, and mask the other three
    return (pairs | pairs >> 2) & 0x111111111111111
