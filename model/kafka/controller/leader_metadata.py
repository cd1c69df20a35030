"""What a leader's own metadata shows of its followers' registrations, which may be behind what the controller has.

Since 3.3 a KRaft leader proposes nobody for the ISR whom its metadata shows fenced or shutting down, and since 3.5
nobody who fetched under another broker epoch than the one that its metadata shows (Partition.isReplicaIsrEligible). The
controller looks again when the request comes, by what it knows by then.

Only the leader of the current epoch can propose. The metadata of a stale leader counts where its high watermark waits
for eligible replicas only (lag_time.py), and is not kept elsewhere.
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
    """Whether the leader's metadata lets it propose r for the ISR."""
    if p.shown_fenced[leader] >> r & 1:
        return Refusal.SHOWN_FENCED
    return Refusal.SHOWN_OTHERWISE if p.shown_otherwise[leader] >> r & 1 else APPLIED


def are_news(p: State, leader: int) -> bool:
    """Whether the leader's metadata is behind the controller's on who is fenced, or has registered anew."""
    return leaders_check_eligibility(p) and (p.shown_fenced[leader] != p.fenced or p.shown_outdated[leader] != 0)


def learn(p: State, leader: int) -> None:
    """Bring a leader's metadata to the controller's state, if the leader is that of the current epoch.

    A leader of an outdated epoch reads the metadata log up to the next epoch.
    """
    forget(p, leader)
    if leads_current_epoch(p, leader) and leaders_check_eligibility(p):
        p.shown_fenced[leader] = p.fenced
        if leaders_check_incarnations(p):
            p.shown_otherwise[leader] = p.remote_stale[leader]
    elif keeps_metadata_of_stale_leaders(p):
        p.shown_fenced[leader] = p.decided_fenced[p.known_epoch[leader]]


def forget(p: State, r: int) -> None:
    """r does not lead the current epoch."""
    p.shown_fenced[r] = 0
    p.shown_outdated[r] = 0
    p.shown_otherwise[r] = 0
    if reads_isr_twice(p):
        p.unread_isr[r] = 0


def note_restart(p: State, r: int) -> None:
    """r has registered anew, which the metadata of its leader does not show yet."""
    if leaders_check_incarnations(p):
        for leader in range(p.replicas):
            if leads_current_epoch(p, leader):
                p.shown_outdated[leader] |= 1 << r


def note_fetch(p: State, leader: int, follower: int) -> None:
    """Let the leader hear from the follower as it runs now: an incarnation that its metadata may not show yet."""
    if leaders_check_incarnations(p) and leads_current_epoch(p, leader):
        shown_before = p.shown_otherwise[leader] & ~(1 << follower)
        p.shown_otherwise[leader] = shown_before | (p.shown_outdated[leader] & 1 << follower)


def leads_current_epoch(p: State, r: int) -> bool:
    """Whether r presumes to lead the epoch that is the controller's, so that it can propose an ISR."""
    return p.known_leader[r] == r and p.known_epoch[r] == p.controller_epoch
