"""What a producer that tries again may have in flight: its last two records, and the oldest of them goes first.

It is max.in.flight.requests.per.connection=2, the least with which requests can overtake one another. All records
before the last two have been answered, so a record that is sent again is never far behind.
"""

from epochfuzz.model.kafka.storage import transactions
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.state import NONE, State

MOST = 2


def has_room(p: State) -> bool:
    """Whether the producer may send a new record: one more stays in the window."""
    leaves = p.produced - MOST
    return p.acks != Acks.ALL or leaves < 0 or is_done(p, leaves)


def is_done(p: State, record: int) -> bool:
    """Whether the producer has its answer, or gives up on it: with the transaction that it was part of."""
    return p.acked >> record & 1 != 0 or transactions.is_over_for(p, record)


def oldest_unanswered(p: State) -> int:
    """Return the record that is sent again next, NONE for none: whoever waits for the leader alone has
    been answered.
    """
    if p.acks == Acks.ALL:
        for record in range(max(0, p.produced - MOST), p.produced):
            if not is_done(p, record):
                return record
    return NONE
