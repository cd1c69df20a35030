"""Shapes: a number for a replica's situation relative to the other replicas, without absolute offsets and epochs.

A shape contains offsets relative to the leader's log, and epochs relative to the controller's epoch. Large differences
count as equal. So a late state of a schedule can have the same shapes as an early state. When epochfuzz chooses
schedules for a slow system under test, it prefers schedules with new shapes. No proof depends on shapes.
"""

from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, State

_NEAR = 2  # all greater differences of offsets or epochs count as equal to 2


def shape(p: State, r: int) -> int:
    """Return the shape of r: a number of less than 62 bits, equal for replicas in similar situations."""
    leader = controller.leader(p)
    known = p.known_leader[r]
    # Each shift makes room for the bits of the next part, so that the parts of the number do not overlap.
    word = p.up[r] | (r == leader) << 1 | (controller.isr(p) >> r & 1) << 2 | whom(known, r, leader) << 3
    word = word << 2 | near(p.controller_epoch - p.known_epoch[r], 0)
    word = word << 2 | p.phase[r]
    word = word << 5 | in_flight(p, r)
    word = word << 6 | beside(p, r, leader)
    word = word << 2 | near(p.leo[r] - p.high_watermark[r], -1) + 1
    word = word << 8 | as_leader(p, r)
    return word << 5 | as_follower(p, r, known)


def near(difference: int, least: int) -> int:
    """Return a difference, clamped to the range from `least` to 2 (_NEAR)."""
    return max(least, min(difference, _NEAR))


def whom(known: int, r: int, leader: int) -> int:
    """Return a code for the leader that r knows: 0 no leader, 1 r itself, 2 `leader`, 3 another replica."""
    if known == NONE:
        return 0
    if known == r:
        return 1
    return 2 if known == leader else 3


def in_flight(p: State, r: int) -> int:
    """Return a code for the response in flight to r: its kind, and how it compares with r's knowledge.

    Bit 3 is set if the response's offset is above r's high watermark. Bit 4 is set if the response's epoch is older
    than the epoch that r knows. The code is 0 if no response is in flight.
    """
    if p.flight[r] == Flight.NOTHING:
        return 0
    return p.flight[r] | (p.flight_offset[r] > p.high_watermark[r]) << 3 | (p.flight_epoch[r] < p.known_epoch[r]) << 4


def beside(p: State, r: int, leader: int) -> int:
    """Return a code that compares r's log and high watermark with the log and high watermark of the leader.

    The code is 0 if `leader` is NONE.
    """
    if leader == NONE:
        return 0
    both = min(p.leo[r], p.leo[leader])
    at_odds = log.differences(p, r, leader, both) != 0
    ahead = near(p.leo[r] - p.leo[leader], -_NEAR) + _NEAR
    high_watermark = p.high_watermark[r] - p.high_watermark[leader]
    return ahead << 3 | at_odds << 2 | (high_watermark > 0) << 1 | (high_watermark < 0)


def as_leader(p: State, r: int) -> int:
    """Return a code for r's role as a leader.

    The code shows whether r's ISR equals the controller's ISR, whether r knows the current partition epoch, the state
    of r's AlterPartition request, whether a change of the ISR is pending, and whether r is fenced.
    """
    is_same = p.isr[r] == controller.isr(p)
    word = is_same << 1 | p.isr_current[r]
    word = word << 3 | p.alter[r]
    word = word << 1 | p.alter_current[r]
    word = word << 1 | (p.pending_isr[r] != 0)
    return word << 1 | (p.fenced >> r & 1)


def as_follower(p: State, r: int, known: int) -> int:
    """Return a code for the facts that r's leader `known` knows about r.

    The code compares the remote LEO that the leader has for r with the leader's high watermark and with r's LEO. The
    code also shows whether r is in the leader's ISR, and whether the leader still believes that it leads. If r leads or
    knows no leader, the code is 1 for an eligible leader replica, and 0 otherwise.
    """
    if known == NONE or known == r:
        return p.elr >> r & 1
    seen = p.remote_leos[known, r]
    place = 0
    if seen != NONE:
        place = 1 + (seen >= p.high_watermark[known]) + (seen >= p.leo[r]) + (seen > p.leo[r])
    word = place << 1 | (p.isr[known] >> r & 1)
    return word << 1 | (p.known_leader[known] == known)
