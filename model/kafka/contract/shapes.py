"""Shapes: what a replica is beside the others, without the names, offsets and epochs that it happens to have.

States of one shape are the same but for the names of replicas and for how far a partition has come: offsets are those
beside the leader's log, epochs those that a replica is behind, both up to a few. So a state late in a schedule counts
as known where the like of it was met early. The choice of schedules goes by that; nothing is proven by it.
"""

from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, State

_NEAR = 2  # offsets and epochs further apart than that are alike


def shape(p: State, r: int) -> int:
    """Return the shape of r, a number of less than 62 bits."""
    leader = controller.leader(p)
    known = p.known_leader[r]
    word = p.up[r] | (r == leader) << 1 | (controller.isr(p) >> r & 1) << 2 | whom(known, r, leader) << 3
    word = word << 2 | near(p.controller_epoch - p.known_epoch[r], 0)
    word = word << 2 | p.phase[r]
    word = word << 5 | in_flight(p, r)
    word = word << 6 | beside(p, r, leader)
    word = word << 2 | near(p.leo[r] - p.high_watermark[r], -1) + 1
    word = word << 8 | as_leader(p, r)
    return word << 5 | as_follower(p, r, known)


def near(difference: int, least: int) -> int:
    """Return a difference, or the least or the greatest that is told apart."""
    return max(least, min(difference, _NEAR))


def whom(known: int, r: int, leader: int) -> int:
    """Whom r takes for the leader: nobody, itself, who is it, or another."""
    if known == NONE:
        return 0
    if known == r:
        return 1
    return 2 if known == leader else 3


def in_flight(p: State, r: int) -> int:
    """Return what is in flight to r, and whether it moves r's high watermark, or ends an epoch that is no longer."""
    if p.flight[r] == Flight.NOTHING:
        return 0
    return p.flight[r] | (p.flight_offset[r] > p.high_watermark[r]) << 3 | (p.flight_epoch[r] < p.known_epoch[r]) << 4


def beside(p: State, r: int, leader: int) -> int:
    """Return r's log and high watermark beside those of the leader by the current decision."""
    if leader == NONE:
        return 0
    both = min(p.leo[r], p.leo[leader])
    at_odds = log.prefix(p.log_record[r] ^ p.log_record[leader], both) != 0
    ahead = near(p.leo[r] - p.leo[leader], -_NEAR) + _NEAR
    high_watermark = p.high_watermark[r] - p.high_watermark[leader]
    return ahead << 3 | at_odds << 2 | (high_watermark > 0) << 1 | (high_watermark < 0)


def as_leader(p: State, r: int) -> int:
    """Return what r has as a leader: an ISR that is the controller's or is not, and a request to change it."""
    is_same = p.isr[r] == controller.isr(p)
    word = is_same << 1 | p.isr_current[r]
    word = word << 3 | p.alter[r]
    word = word << 1 | p.alter_current[r]
    word = word << 1 | (p.pending_isr[r] != 0)
    return word << 1 | (p.fenced >> r & 1)


def as_follower(p: State, r: int, known: int) -> int:
    """Return what the replica that r follows knows of r: its LEO, beside what it is now, and whether it is in sync."""
    if known == NONE or known == r:
        return p.elr >> r & 1
    seen = p.remote_leos[known, r]
    place = 0
    if seen != NONE:
        place = 1 + (seen >= p.high_watermark[known]) + (seen >= p.leo[r]) + (seen > p.leo[r])
    word = place << 1 | (p.isr[known] >> r & 1)
    return word << 1 | (p.known_leader[known] == known)
