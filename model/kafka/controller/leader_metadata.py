"""A leader's own metadata about the registrations of its followers; this metadata may be older than the controller's.

Since 3.3 a KRaft leader does not propose a replica for the ISR if the leader's metadata shows the replica fenced or
shutting down. Since 3.5 the leader also requires that the replica last fetched under the broker epoch in that metadata
(Partition.isReplicaIsrEligible). The controller checks again when the request arrives, with its own state.

Only the leader of the current epoch can propose. The metadata of a stale leader matters only if its high watermark
waits for eligible replicas (lag_time.py). Otherwise the model does not keep this metadata.
"""

from epochfuzz.model.kafka.vocabulary.in_force import (
    keeps_metadata_of_stale_leaders,
    leaders_check_eligibility,
    leaders_check_incarnations,
    reads_isr_twice,
)
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import State


def why_not_eligible(p: State, leader: int, r: int) -> int:
    """Return why the leader's metadata does not allow it to propose r for the ISR, or APPLIED if it does."""
    if p.shown_fenced[leader] >> r & 1:
        return Refusal.SHOWN_FENCED
    return Refusal.SHOWN_OTHERWISE if p.shown_otherwise[leader] >> r & 1 else APPLIED


def are_news(p: State, leader: int) -> bool:
    """Return whether the leader's metadata does not show yet that a replica was fenced, unfenced or registered."""
    return leaders_check_eligibility(p) and (p.shown_fenced[leader] != p.fenced or p.shown_outdated[leader] != 0)


def learn(p: State, leader: int) -> None:
    """Update the leader's metadata from the controller's state, if the leader leads the current epoch.

    A leader of an outdated epoch has read the metadata log only up to the start of the next epoch.
    """
    forget(p, leader)
    if leads_current_epoch(p, leader) and leaders_check_eligibility(p):
        p.shown_fenced[leader] = p.fenced
        if leaders_check_incarnations(p):
            p.shown_otherwise[leader] = p.remote_stale[leader]
    elif keeps_metadata_of_stale_leaders(p):
        p.shown_fenced[leader] = p.decided_fenced[p.known_epoch[leader]]


def forget(p: State, r: int) -> None:
    """Clear r's metadata about its followers, because r no longer leads the current epoch, or reads it again."""
    p.shown_fenced[r] = 0
    p.shown_outdated[r] = 0
    p.shown_otherwise[r] = 0
    if reads_isr_twice(p):
        p.unread_isr[r] = 0


def note_restart(p: State, r: int) -> None:
    """Note that r has registered again, and that its leader's metadata does not show this yet."""
    if leaders_check_incarnations(p):
        for leader in range(p.replicas):
            if leads_current_epoch(p, leader):
                p.shown_outdated[leader] |= 1 << r


def note_fetch(p: State, leader: int, follower: int) -> None:
    """Note a fetch under the follower's current broker epoch. The leader's metadata may not show this epoch yet."""
    if leaders_check_incarnations(p) and leads_current_epoch(p, leader):
        shown_before = p.shown_otherwise[leader] & ~(1 << follower)
        p.shown_otherwise[leader] = shown_before | (p.shown_outdated[leader] & 1 << follower)


def leads_current_epoch(p: State, r: int) -> bool:
    """Return whether r presumes to lead the controller's current epoch, so that it can propose an ISR."""
    return p.known_leader[r] == r and p.known_epoch[r] == p.controller_epoch
