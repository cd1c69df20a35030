"""Incarnations: whether what a leader has heard of a follower is from before that one restarted (KIP-903).

A broker has another epoch each time it registers. Fetches carry it, and so does an AlterPartition request for each
member that it adds, so that the controller can refuse one that may have lost its log since. Here incarnations are not
numbered: all that counts is whether the one that was heard from is gone.
"""

from epochfuzz.model.kafka.controller import leader_metadata
from epochfuzz.model.kafka.vocabulary.in_force import tracks_incarnations
from epochfuzz.model.kafka.vocabulary.mechanisms import IsrEligibility
from epochfuzz.model.kafka.vocabulary.state import NONE, Alter, State


def note_restart(p: State, r: int) -> None:
    """r starts again: what others have heard of it, or have asked for on the word of it, is of an incarnation gone.

    A request that was turned down may be on its way once more, with the broker epochs that it had.
    """
    if tracks_incarnations(p):
        for leader in range(p.replicas):
            if p.remote_leos[leader, r] != NONE:
                p.remote_stale[leader] |= 1 << r
            if p.alter_isr[leader] >> r & 1 and (p.alter[leader] == Alter.REQUEST or p.alter[leader] == Alter.REVERTED):
                p.alter_stale[leader] |= 1 << r
        leader_metadata.note_restart(p, r)


def note_fetch(p: State, leader: int, follower: int) -> None:
    """Let a leader hear from the follower's present incarnation.

    Up to 3.6 the broker epoch was read as a request was built, after the follower had been judged: a fetch in between
    put the epoch of the new incarnation into a request on the word of the old one (KAFKA-15221).
    """
    if tracks_incarnations(p):
        p.remote_stale[leader] &= ~(1 << follower)
        if p.isr_eligibility == IsrEligibility.INCARNATION_RACY:
            p.alter_stale[leader] &= ~(1 << follower)
        leader_metadata.note_fetch(p, leader, follower)
