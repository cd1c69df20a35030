"""A KRaft leader's own metadata about its followers' registrations, perhaps older than the controller's state.

Since 3.3 a leader does not propose a replica for the ISR while its metadata shows this replica fenced or shutting down.
Since 3.5 the replica's last fetch must also carry the broker epoch in this metadata (Partition.isReplicaIsrEligible).
The controller checks again with its own state when the request arrives.

The model keeps this metadata for the leader of the current epoch, because only this leader can propose an ISR. For a
stale leader, the model keeps the metadata only under protocols and settings where the stale leader's high watermark
depends on its metadata (lag_time.py).
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
    """Return why the leader may not propose r for the ISR, according to the leader's metadata, or APPLIED if it may."""
    if p.shown_fenced[leader] >> r & 1:
        return Refusal.SHOWN_FENCED
    return Refusal.SHOWN_OTHERWISE if p.shown_otherwise[leader] >> r & 1 else APPLIED


def are_news(p: State, leader: int) -> bool:
    """Return whether a follower was fenced, unfenced or registered, and the leader's metadata doesn't show this yet."""
    return leaders_check_eligibility(p) and (p.shown_fenced[leader] != p.fenced or p.shown_outdated[leader] != 0)


def learn(p: State, leader: int) -> None:
    """Update the leader's metadata about its followers from the controller's state.

    If the model keeps the metadata of stale leaders, a stale leader learns the state at the end of its own epoch.
    """
    forget(p, leader)
    if leads_current_epoch(p, leader) and leaders_check_eligibility(p):
        p.shown_fenced[leader] = p.fenced
        if leaders_check_incarnations(p):
            p.shown_otherwise[leader] = p.remote_stale[leader]
    elif keeps_metadata_of_stale_leaders(p):
        p.shown_fenced[leader] = p.decided_fenced[p.known_epoch[leader]]


def forget(p: State, r: int) -> None:
    """Clear r's metadata about r's followers."""
    p.shown_fenced[r] = 0
    p.shown_outdated[r] = 0
    p.shown_otherwise[r] = 0
    if reads_isr_twice(p):
        p.unread_isr[r] = 0


def note_restart(p: State, r: int) -> None:
    """Note that r has registered again, and that the current leader's metadata does not show this yet."""
    if leaders_check_incarnations(p):
        for leader in range(p.replicas):
            if leads_current_epoch(p, leader):
                p.shown_outdated[leader] |= 1 << r


def note_fetch(p: State, leader: int, follower: int) -> None:
    """Note whether the broker epoch in a fetch differs from the follower's broker epoch in the leader's metadata.

    The fetch carries the follower's current broker epoch. The leader's metadata may still show an older broker epoch.
    """
    if leaders_check_incarnations(p) and leads_current_epoch(p, leader):
        shown_before = p.shown_otherwise[leader] & ~(1 << follower)
        p.shown_otherwise[leader] = shown_before | (p.shown_outdated[leader] & 1 << follower)


def leads_current_epoch(p: State, r: int) -> bool:
    """Return whether r leads the controller's current epoch and knows that it leads, so that it can propose an ISR."""
    return p.known_leader[r] == r and p.known_epoch[r] == p.controller_epoch
