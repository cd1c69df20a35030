"""The lag time (`replica.lag.time.max.ms`): the leader tracks which followers were caught up within this time.

A leader's high watermark waits for the ISR, and for each replica outside the ISR that was caught up within the lag time
(Partition.maybeIncrementLeaderHW since Kafka 0.10.2). A member leaves the ISR if it was not caught up within the lag
time (Partition.isFollowerOutOfSync).

With the setting `lag_time`, time passes only in the event `lapse`. If this setting is off, the lag time passes before
every event, and `may_wait_for` is the only rule of this module that applies.
"""

from epochfuzz.model.kafka.controller import leader_metadata
from epochfuzz.model.kafka.vocabulary.in_force import (
    restarts_the_clock_of_all,
    tracks_incarnations,
    waits_for_eligible_replicas_only,
)
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State


def lapse(p: State, r: int) -> int:
    """Let the lag time pass at leader r: no follower counts as caught up any more. Returns APPLIED, or a Refusal.

    The high watermark does not change, because Kafka runs no code at that moment.
    """
    if not p.lag_time:
        return Refusal.LAG_TIME_OFF
    if p.known_leader[r] != r:
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    p.caught_up[r] = 0
    forget_fetches(p, r)
    return APPLIED


def note_fetch(p: State, leader: int, follower: int, offset: int) -> None:
    """Record that the follower has fetched from `offset`, and mark it as caught up if the fetch shows this.

    A follower is caught up if it has every record that the leader has now, or had at the follower's previous fetch, if
    that fetch was within the lag time (Replica.updateFetchState, lastCaughtUpTimeMs).
    """
    had = p.fetched_at[leader, follower]
    if offset >= p.leo[leader] or (had != NONE and offset >= had):
        p.caught_up[leader] |= 1 << follower
    p.fetched_at[leader, follower] = p.leo[leader]


def begin_to_lead(p: State, r: int, members: int) -> None:
    """Mark the ISR members, and no other replica, as caught up, because r begins to lead an epoch.

    Kafka's code for this is Partition.makeLeader and Replica.resetReplicaState (up to 3.2,
    Replica.resetLastCaughtUpTime).
    """
    p.caught_up[r] = members & ~(1 << r)


def lead_again(p: State, r: int) -> None:
    """Reset the last fetch that leader r has stored for each follower, because r is elected again.

    Up to Kafka 3.2 the election counts as a fetch of each follower. Since 3.3 it does not: a replica outside the ISR
    has to fetch first (Replica.resetReplicaState, lastFetchTimeMs).
    """
    for follower in range(p.replicas):
        if follower != r:
            p.fetched_at[r, follower] = p.leo[r] if restarts_the_clock_of_all(p) else NONE


def forget_fetches(p: State, leader: int) -> None:
    """Forget the last fetch that each follower sent to the leader."""
    for follower in range(p.replicas):
        p.fetched_at[leader, follower] = NONE


def is_waited_for(p: State, leader: int, r: int) -> bool:
    """Return whether the leader's high watermark waits for r, which is outside the ISR.

    r must have been caught up within the lag time. Since 3.6 r must also have fetched from this leader. Without a fetch
    the leader does not know r's broker epoch, so r may not join the ISR (isBrokerEpochIsrEligible).
    """
    if not p.caught_up[leader] >> r & 1:
        return False
    if waits_for_eligible_replicas_only(p) and tracks_incarnations(p) and p.remote_leos[leader, r] == NONE:
        return False
    return may_wait_for(p, leader, r)


def may_wait_for(p: State, leader: int, r: int) -> bool:
    """Return whether Kafka lets the leader's high watermark wait for r, which is outside the ISR.

    Since KAFKA-15021 (3.6) r must be allowed to join the ISR (maybeIncrementLeaderHW, shouldWaitForReplicaToJoinIsr).
    Before 3.6 the leader may wait for any replica.
    """
    return not waits_for_eligible_replicas_only(p) or leader_metadata.why_not_eligible(p, leader, r) == APPLIED


def lowest_leo_waited_for(p: State, leader: int, lowest: int) -> int:
    """Return the lowest LEO that the high watermark waits for among replicas outside the ISR, but at most `lowest`."""
    for r in range(p.replicas):
        if r != leader and p.remote_leos[leader, r] < lowest and is_waited_for(p, leader, r):
            lowest = max(0, p.remote_leos[leader, r])
    return lowest
