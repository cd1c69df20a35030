"""The high watermark (HW): the end of what consumers may read.

A follower's trails the leader's by one fetch round trip, because it learns the leader's HW only in the answer to the
fetch after the one that brought the record. That is the root of every loss this project reproduces.
"""

from epochfuzz.model import promises
from epochfuzz.model.goals import Goal
from epochfuzz.model.state import State


def advance_leader(p: State, leader: int) -> None:
    """HW = max(HW, min(LEO of the leader, remote LEO of every ISR member)), evaluated at the leader.

    Applied at produce, fetch, becoming leader and shrink. Without the max a HW could only fall.
    """
    lowest = lowest_leo_in_isr(p, leader)
    previous = p.high_watermark[leader]
    if lowest > previous:
        p.high_watermark[leader] = lowest
        promises.remember_readable(p, leader, previous)
        p.goals |= Goal.HIGH_WATERMARK_ADVANCED


def lowest_leo_in_isr(p: State, leader: int) -> int:
    """What the leader and every member of its ISR have, as far as the leader knows."""
    lowest = p.leo[leader]
    for follower in range(p.replicas):
        if follower != leader and p.isr[leader] >> follower & 1:
            lowest = min(lowest, replication_position(p, leader, follower))
    return lowest


def replication_position(p: State, leader: int, follower: int) -> int:
    """The follower's LEO as its leader knows it; 0 until the follower has fetched from it in this epoch."""
    return max(0, p.remote_leos[leader, follower])


def advance_follower(p: State, follower: int, leader_high_watermark: int) -> None:
    """HW = min(own LEO, leader's HW in the answer). It may go backwards after a fail-over (KAFKA-2334)."""
    if leader_high_watermark < p.high_watermark[follower]:
        p.goals |= Goal.HIGH_WATERMARK_WENT_BACK
    p.high_watermark[follower] = min(p.leo[follower], leader_high_watermark)
