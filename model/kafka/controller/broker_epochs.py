"""Broker epochs (KIP-903): they show whether a follower has restarted since its last fetch reached the leader.

A broker gets a new broker epoch each time it registers. Fetches carry the broker epoch. An AlterPartition request
carries the broker epoch of each member of the proposed ISR, so the controller can reject a member that has restarted
and may have lost records. The model does not store broker epochs as numbers. The model stores only whether the broker
epoch that a leader knows is outdated.
"""

from epochfuzz.model.kafka.controller import leader_metadata
from epochfuzz.model.kafka.vocabulary.in_force import registers_in_two_steps, tracks_incarnations
from epochfuzz.model.kafka.vocabulary.mechanisms import IsrEligibility
from epochfuzz.model.kafka.vocabulary.state import NONE, Alter, Incarnation, State


def is_unregistered(p: State, r: int) -> bool:
    """Return whether r's process runs and has not registered, so that the controller knows only its former process."""
    return registers_in_two_steps(p) and p.incarnation[r] == Incarnation.UNREGISTERED


def is_away(p: State, r: int) -> bool:
    """Return whether r's process does not run, or is not registered."""
    return not p.up[r] or is_unregistered(p, r)


def note_restart(p: State, r: int) -> None:
    """Mark r's broker epoch as outdated at each leader that knows it, and in each AlterPartition request that has it.

    A request that the controller rejected is marked too, because the leader may send it again with the old broker
    epochs.
    """
    if tracks_incarnations(p):
        for leader in range(p.replicas):
            if p.remote_leos[leader, r] != NONE:
                p.remote_stale[leader] |= 1 << r
            if p.alter_isr[leader] >> r & 1 and (p.alter[leader] == Alter.REQUEST or p.alter[leader] == Alter.REVERTED):
                p.alter_stale[leader] |= 1 << r
        leader_metadata.note_restart(p, r)


def note_fetch(p: State, leader: int, follower: int) -> None:
    """Note that the leader has received a fetch, and so knows the follower's current broker epoch.

    Up to 3.6 a leader first checked whether a follower may join the ISR, and read the follower's broker epoch later. If
    the follower restarted and fetched in between, the leader's AlterPartition request carried the new broker epoch,
    although the leader had checked the former process (KAFKA-15221).
    """
    if tracks_incarnations(p):
        p.remote_stale[leader] &= ~(1 << follower)
        if p.isr_eligibility == IsrEligibility.INCARNATION_RACY:
            p.alter_stale[leader] &= ~(1 << follower)
        leader_metadata.note_fetch(p, leader, follower)
