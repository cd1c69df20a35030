"""The lag time (`replica.lag.time.max.ms`): the leader knows which followers were caught up within this time.

A leader's high watermark waits for the ISR, and for each replica outside the ISR that was caught up within the lag time
(Partition.maybeIncrementLeaderHW since Kafka 0.10.2). A member leaves the ISR if it was not caught up within the lag
time (Partition.isFollowerOutOfSync).

Time passes in `lapse` only. With the setting `lag_time` off, the model assumes that the lag time passes before every
event, and nothing here applies.
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
    """Let the lag time pass at leader r. Kafka runs no code at that moment, so the high watermark does not change."""
    if not p.lag_time:
        return Refusal.LAG_TIME_OFF
    if p.known_leader[r] != r:
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    p.caught_up[r] = 0
    forget_fetches(p, r)
    return APPLIED


def note_fetch(p: State, leader: int, follower: int, offset: int) -> None:
    """Note a fetch from `offset`, which may show that the follower is caught up.

    A follower is caught up if it has every record that the leader has now, or had at the follower's last fetch.
    Replica.updateFetchState, lastCaughtUpTimeMs. The last fetch counts if it was within the lag time.
    """
    had = p.fetched_at[leader, follower]
    if offset >= p.leo[leader] or (had != NONE and offset >= had):
        p.caught_up[leader] |= 1 << follower
    p.fetched_at[leader, follower] = p.leo[leader]


def begin_to_lead(p: State, r: int, members: int) -> None:
    """Mark only the members of the ISR as caught up, as r begins to lead an epoch.

    Partition.makeLeader; Replica.resetReplicaState, until 3.2 Replica.resetLastCaughtUpTime.
    """
    p.caught_up[r] = members & ~(1 << r)


def lead_again(p: State, r: int) -> None:
    """Reset the time of each follower's last fetch, because the leader is re-elected.

    Up to Kafka 3.2 the election counts as the last fetch. From 3.3 on the last fetch is forgotten, so a replica outside
    the ISR has to fetch first (Replica.resetReplicaState, lastFetchTimeMs).
    """
    for follower in range(p.replicas):
        if follower != r:
            p.fetched_at[r, follower] = p.leo[r] if restarts_the_clock_of_all(p) else NONE


def forget_fetches(p: State, leader: int) -> None:
    """Forget the last fetch of each follower."""
    for follower in range(p.replicas):
        p.fetched_at[leader, follower] = NONE


def is_waited_for(p: State, leader: int, r: int) -> bool:
    """Return whether the leader's high watermark waits for r, which was caught up within the lag time.

    r is outside the ISR. Since 3.6 the leader does not wait for a replica that has not fetched. Such a replica may not
    join the ISR, because the leader does not know its broker epoch (isBrokerEpochIsrEligible).
    """
    if not p.caught_up[leader] >> r & 1:
        return False
    if waits_for_eligible_replicas_only(p) and tracks_incarnations(p) and p.remote_leos[leader, r] == NONE:
        return False
    return may_wait_for(p, leader, r)


def may_wait_for(p: State, leader: int, r: int) -> bool:
    """Return whether the leader's high watermark may wait for r outside the ISR.

    Since KAFKA-15021 (3.6) the high watermark waits for r only if r may join the ISR (maybeIncrementLeaderHW,
    shouldWaitForReplicaToJoinIsr).
    """
    return not waits_for_eligible_replicas_only(p) or leader_metadata.why_not_eligible(p, leader, r) == APPLIED


def lowest_leo_waited_for(p: State, leader: int, lowest: int) -> int:
    """Return the lowest LEO of the replicas outside the ISR that the leader's high watermark waits for.

    Returns `lowest` if that is lower.
    """
    for r in range(p.replicas):
        if r != leader and p.remote_leos[leader, r] < lowest and is_waited_for(p, leader, r):
            lowest = max(0, p.remote_leos[leader, r])
    return lowest
