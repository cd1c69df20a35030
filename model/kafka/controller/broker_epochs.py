"""Broker epochs (KIP-903): they show whether a follower has restarted since its leader last heard from it.

A broker gets a new broker epoch each time it registers. Fetches carry the broker epoch. An AlterPartition request
carries the broker epoch of each member, so the controller can reject a member that has restarted and may have lost
records. The model does not store these numbers. The model only records whether the epoch that a leader knows is
outdated.
"""

from epochfuzz.model.kafka.controller import leader_metadata
from epochfuzz.model.kafka.vocabulary.in_force import registers_in_two_steps, tracks_incarnations
from epochfuzz.model.kafka.vocabulary.mechanisms import IsrEligibility
from epochfuzz.model.kafka.vocabulary.state import NONE, Alter, Incarnation, State


def is_unregistered(p: State, r: int) -> bool:
    """Return whether r's process runs, and the controller knows only the former process."""
    return registers_in_two_steps(p) and p.incarnation[r] == Incarnation.UNREGISTERED


def is_away(p: State, r: int) -> bool:
    """Return whether r's process does not run, or is not registered."""
    return not p.up[r] or is_unregistered(p, r)


def note_restart(p: State, r: int) -> None:
    """Mark each leader's knowledge of r, and each request that names r as a member, as outdated.

    A rejected request counts too, because it may be sent again with its old broker epochs.
    """
    if tracks_incarnations(p):
        for leader in range(p.replicas):
            if p.remote_leos[leader, r] != NONE:
                p.remote_stale[leader] |= 1 << r
            if p.alter_isr[leader] >> r & 1 and (p.alter[leader] == Alter.REQUEST or p.alter[leader] == Alter.REVERTED):
                p.alter_stale[leader] |= 1 << r
        leader_metadata.note_restart(p, r)


def note_fetch(p: State, leader: int, follower: int) -> None:
    """Note that the leader has received a fetch with the follower's current broker epoch.

    Up to 3.6 the leader first checked the follower, and read its broker epoch later, when it built the request. A fetch
    between these steps put the new broker epoch into a request that relied on the old one (KAFKA-15221).
    """
    if tracks_incarnations(p):
        p.remote_stale[leader] &= ~(1 << follower)
        if p.isr_eligibility == IsrEligibility.INCARNATION_RACY:
            p.alter_stale[leader] &= ~(1 << follower)
        leader_metadata.note_fetch(p, leader, follower)
