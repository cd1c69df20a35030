"""The reference model: an ideal log that never crashes and remembers what clients saw and were told.

A record is *exposed* once it was readable on a replica that presumed leadership, and *acked* once its producer got
its answer. Neither is ever forgotten, whatever happens to the replicas; the properties hold the replicas against it.
"""

from epochfuzz.model import log
from epochfuzz.model.configuration import Acks
from epochfuzz.model.state import State


def remember_produced(p: State, r: int) -> int:
    """A client's record arrives at leader r: give it the next id, and with acks=1 the answer at once."""
    record = p.produced
    p.produced = record + 1
    p.record_offset |= p.leo[r] << (4 * record)
    if p.acks == Acks.LEADER:
        p.acked |= 1 << record
    return record


def remember_readable(p: State, r: int, start: int) -> None:
    """Consumers may read from `start` to the high watermark of r, which presumes leadership.

    With acks=all the producers that wait at r get their answer. A leader answers for what it appended in its own
    epoch; the requests of an earlier one were failed when leadership changed.
    """
    for offset in range(start, p.high_watermark[r]):
        record = 1 << log.at(p.log_record[r], offset)
        p.exposed |= record
        if p.acks == Acks.ALL and log.at(p.log_epoch[r], offset) == p.known_epoch[r]:
            p.acked |= record
