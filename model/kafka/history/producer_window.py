"""The window of a producer that retries: the producer's last two records, which the producer may send again.

This models max.in.flight.requests.per.connection=2, the smallest value that lets requests overtake each other.
All earlier records are acknowledged or given up.
"""

from epochfuzz.model.kafka.storage import transactions
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.state import NONE, State

MOST = 2


def has_room(p: State) -> bool:
    """Return whether the producer may send a new record.

    With acks=all, a new record pushes the oldest record out of the window. So there is room only if the oldest
    record is acknowledged or given up. With other acks there is always room.
    """
    leaves = p.produced - MOST
    return p.acks != Acks.ALL or leaves < 0 or is_done(p, leaves)


def is_done(p: State, record: int) -> bool:
    """Return whether a record is acknowledged, or given up because its transaction is over."""
    return p.acked >> record & 1 != 0 or transactions.is_over_for(p, record)


def oldest_unanswered(p: State) -> int:
    """Return the oldest record that the producer may send again. Returns NONE if every record is done.

    With acks other than all the result is NONE, because the producer never sends a record again.
    """
    if p.acks == Acks.ALL:
        for record in range(max(0, p.produced - MOST), p.produced):
            if not is_done(p, record):
                return record
    return NONE
