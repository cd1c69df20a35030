"""The window of a producer that retries: its last two records. The producer sends the older one first.

This is max.in.flight.requests.per.connection=2, the smallest value that lets requests overtake one another. Every
record before the last two is acknowledged or given up, so the producer sends only these two again.
"""

from epochfuzz.model.kafka.storage import transactions
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.state import NONE, State

MOST = 2


def has_room(p: State) -> bool:
    """Return whether the producer may send a new record.

    The oldest record in a full window must be acknowledged or given up. With acks other than all there is always room.
    """
    leaves = p.produced - MOST
    return p.acks != Acks.ALL or leaves < 0 or is_done(p, leaves)


def is_done(p: State, record: int) -> bool:
    """Return whether a record is acknowledged, or given up because its transaction is over."""
    return p.acked >> record & 1 != 0 or transactions.is_over_for(p, record)


def oldest_unanswered(p: State) -> int:
    """Return the record that the producer would send again next, NONE if there is none.

    The result is NONE unless acks=all, because with other acks no request waits for the ISR.
    """
    if p.acks == Acks.ALL:
        for record in range(max(0, p.produced - MOST), p.produced):
            if not is_done(p, record):
                return record
    return NONE
