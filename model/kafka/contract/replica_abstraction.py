"""Shapes: a replica in relation to the others, without particular names, offsets and epochs.

Replicas of one shape differ mainly in their names and in the progress of the partition. Offsets are relative to the
leader's log, and epochs to the controller's epoch. Both count only up to a small limit. So a state late in a schedule
counts as known if an early state had the same shape. Shapes steer the choice of schedules; they prove nothing.
"""

from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, State

_NEAR = 2  # greater distances of offsets and epochs count as equal


def shape(p: State, r: int) -> int:
    """Return the shape of r, a number of less than 62 bits."""
    leader = controller.leader(p)
    known = p.known_leader[r]
    # Each shift makes room for the bits of the next part, so that equal words are equal shapes.
    word = p.up[r] | (r == leader) << 1 | (controller.isr(p) >> r & 1) << 2 | whom(known, r, leader) << 3
    word = word << 2 | near(p.controller_epoch - p.known_epoch[r], 0)
    word = word << 2 | p.phase[r]
    word = word << 5 | in_flight(p, r)
    word = word << 6 | beside(p, r, leader)
    word = word << 2 | near(p.leo[r] - p.high_watermark[r], -1) + 1
    word = word << 8 | as_leader(p, r)
    return word << 5 | as_follower(p, r, known)


def near(difference: int, least: int) -> int:
    """Return a difference, clamped to the range from `least` to _NEAR."""
    return max(least, min(difference, _NEAR))


def whom(known: int, r: int, leader: int) -> int:
    """Return a code for the leader that r knows: 0 none, 1 itself, 2 the current update's leader, 3 another."""
    if known == NONE:
        return 0
    if known == r:
        return 1
    return 2 if known == leader else 3


def in_flight(p: State, r: int) -> int:
    """Return a code for the response in flight to r.

    Two bits tell whether its offset is above r's high watermark, and whether its epoch is older than r's known epoch.
    """
    if p.flight[r] == Flight.NOTHING:
        return 0
    return p.flight[r] | (p.flight_offset[r] > p.high_watermark[r]) << 3 | (p.flight_epoch[r] < p.known_epoch[r]) << 4


def beside(p: State, r: int, leader: int) -> int:
    """Return a code for r's log and high watermark, compared with the log and high watermark of `leader`.

    `leader` is the leader in the current update, NONE for none.
    """
    if leader == NONE:
        return 0
    both = min(p.leo[r], p.leo[leader])
    at_odds = log.prefix(p.log_record[r] ^ p.log_record[leader], both) != 0
    ahead = near(p.leo[r] - p.leo[leader], -_NEAR) + _NEAR
    high_watermark = p.high_watermark[r] - p.high_watermark[leader]
    return ahead << 3 | at_odds << 2 | (high_watermark > 0) << 1 | (high_watermark < 0)


def as_leader(p: State, r: int) -> int:
    """Return a code for r's state as a leader.

    The code tells whether r's ISR equals the controller's ISR and is current, whether a change of the ISR is requested
    or pending, and whether r is fenced.
    """
    is_same = p.isr[r] == controller.isr(p)
    word = is_same << 1 | p.isr_current[r]
    word = word << 3 | p.alter[r]
    word = word << 1 | p.alter_current[r]
    word = word << 1 | (p.pending_isr[r] != 0)
    return word << 1 | (p.fenced >> r & 1)


def as_follower(p: State, r: int, known: int) -> int:
    """Return a code for the knowledge that r's leader has of r.

    The code contains r's LEO as the leader knows it, relative to the leader's high watermark and to r's present LEO. It
    also tells whether r is in that leader's ISR, and whether that leader presumes leadership. If r knows no leader but
    itself, the code only tells whether r is an eligible leader replica.
    """
    if known == NONE or known == r:
        return p.elr >> r & 1
    seen = p.remote_leos[known, r]
    place = 0
    if seen != NONE:
        place = 1 + (seen >= p.high_watermark[known]) + (seen >= p.leo[r]) + (seen > p.leo[r])
    word = place << 1 | (p.isr[known] >> r & 1)
    return word << 1 | (p.known_leader[known] == known)
