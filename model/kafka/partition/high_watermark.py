"""The high watermark (HW): the end of the records that consumers may read.

A follower's HW lags behind the leader's by one fetch: the follower gets a record in one response, and learns in the
next that the record is committed. This delay causes many of the losses that this project reproduces.
"""

from epochfuzz.model.kafka.history import promises
from epochfuzz.model.kafka.partition import delayed_fetch, lag_time
from epochfuzz.model.kafka.storage import log_start, transactions
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import (
    evaluates_at_every_fetch,
    keeps_positions,
    requests_isr_changes,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import (
    EffectiveIsr,
    FollowerHighWatermark,
    HighWatermarkGate,
    IsrChange,
)
from epochfuzz.model.kafka.vocabulary.state import NONE, State


def advance_leader(p: State, leader: int) -> None:
    """Raise the leader's HW to the lowest LEO in its ISR, as far as the leader knows these LEOs. The HW never falls.

    The leader does this when it appends a record, receives a fetch, becomes leader, or changes the ISR. With `lag_time`
    the leader also waits for replicas outside the ISR that were caught up within the lag time.
    """
    lowest = lowest_leo_in_isr(p, leader)
    previous = p.high_watermark[leader]
    if p.lag_time and lowest > previous:
        waited_for = lag_time.lowest_leo_waited_for(p, leader, lowest)
        p.goals |= Goal.HIGH_WATERMARK_WAITED * (waited_for < lowest)
        lowest = waited_for
    if lowest > previous:
        if is_held(p, leader):
            p.goals |= Goal.HIGH_WATERMARK_HELD
            return
        p.high_watermark[leader] = lowest
        if p.delayed_fetch:
            delayed_fetch.reject_fenced(p, leader)
        promises.remember_readable(p, leader, previous)
        transactions.follow_high_watermark(p, leader, previous)
        p.goals |= Goal.HIGH_WATERMARK_ADVANCED


def is_held(p: State, leader: int) -> bool:
    """Return whether the leader's ISR is too small for the HW to rise (KIP-966, Partition.isUnderMinIsr)."""
    return (
        p.high_watermark_gate == HighWatermarkGate.MIN_ISR and replica_sets.size(p.isr[leader]) < p.min_insync_replicas
    )


def lowest_leo_in_isr(p: State, leader: int) -> int:
    """Return the lowest LEO of the leader and its ISR members, as far as the leader knows."""
    lowest = p.leo[leader]
    members = effective_isr(p, leader)
    for follower in range(p.replicas):
        if follower != leader and members >> follower & 1:
            lowest = min(lowest, replication_position(p, leader, follower))
    return lowest


def effective_isr(p: State, leader: int) -> int:
    """Return the set of replicas whose LEOs limit the leader's HW: the ISR, plus a pending proposal's members.

    The controller may have made the change already, or may never make it (Partition.maximalIsr, KIP-497). Unsound
    choices of the mechanism `effective_isr` return only the old ISR or only the proposed ISR.
    """
    if p.isr_change == IsrChange.ATOMIC or p.effective_isr == EffectiveIsr.COMMITTED:
        return p.isr[leader]
    if p.effective_isr == EffectiveIsr.PROPOSED and p.pending_isr[leader] != 0:
        return p.pending_isr[leader]
    return replica_sets.maximal_isr(p, leader)


def note_position(p: State, leader: int, follower: int, offset: int) -> None:
    """Store the follower's LEO at the leader, and let the leader raise its HW if this LEO is new.

    A fetch from an unchanged offset does not raise the HW. So the HW can stay too low if an earlier change of the ISR
    did not raise it either (Partition.updateFollowerFetchState, KAFKA-13091). Up to Kafka 2.3 the leader evaluates its
    HW at every fetch.
    """
    note_caught_up(p, leader, follower, offset)
    if keeps_positions(p):
        p.fetched[leader] |= 1 << follower
    if p.remote_leos[leader, follower] != offset:
        p.remote_leos[leader, follower] = offset
        advance_leader(p, leader)
    elif evaluates_at_every_fetch(p):
        advance_leader(p, leader)


def has_fetched(p: State, leader: int, follower: int) -> bool:
    """Return whether the leader has received a fetch from the follower in the leader's current epoch."""
    if keeps_positions(p) and not p.fetched[leader] >> follower & 1:
        return False
    return p.remote_leos[leader, follower] != NONE


def note_caught_up(p: State, leader: int, follower: int, offset: int) -> None:
    """Mark a follower as possibly caught up, if its fetch from `offset` allows this.

    In Kafka the fetch must reach the leader's present LEO, or the LEO that the leader had at the follower's last fetch
    (Replica.updateFetchState, lastCaughtUpTimeMs). The model stores this earlier LEO only with `lag_time`. Without
    `lag_time`, any fetch after the first counts, and only followers outside the ISR are marked.
    """
    if p.lag_time:
        lag_time.note_fetch(p, leader, follower, offset)
        return
    is_near = offset >= p.leo[leader] or has_fetched(p, leader, follower)
    if requests_isr_changes(p) and is_near and not p.isr[leader] >> follower & 1:
        p.caught_up[leader] |= 1 << follower


def due(p: State, leader: int) -> int:
    """Return the lowest HW that Kafka allows the leader to have now.

    This HW is the lowest LEO in the ISR, or a lower LEO of a replica outside the ISR. A leader may wait for such a
    replica if the replica was caught up within replica.lag.time.max.ms (Partition.maybeIncrementLeaderHW,
    shouldWaitForReplicaToJoinIsr). Since KAFKA-15021 (3.6) the replica must also be allowed to join the ISR.
    """
    lowest = lowest_leo_in_isr(p, leader)
    if p.lag_time:
        return lag_time.lowest_leo_waited_for(p, leader, lowest)
    for r in range(p.replicas):
        if p.caught_up[leader] >> r & 1 and lag_time.may_wait_for(p, leader, r):
            lowest = min(lowest, replication_position(p, leader, r))
    return lowest


def replication_position(p: State, leader: int, follower: int) -> int:
    """Return the follower's LEO that the leader knows, or 0 if the leader knows no LEO."""
    return max(0, p.remote_leos[leader, follower])


def advance_follower(p: State, follower: int, leader_high_watermark: int) -> None:
    """Set the follower's HW to the leader's HW in a response, but at most to the follower's LEO.

    The HW may fall after a fail-over (KAFKA-2334). In Apache Fluss the HW becomes the follower's LEO instead
    (ReplicaFetcherThread.processFetchResultFromLocalStorage).
    """
    previous = p.high_watermark[follower]
    if p.follower_high_watermark == FollowerHighWatermark.OWN_END:
        p.high_watermark[follower] = p.leo[follower]
    else:
        if leader_high_watermark < previous:
            p.goals |= Goal.HIGH_WATERMARK_WENT_BACK
        p.high_watermark[follower] = min(p.leo[follower], leader_high_watermark)
    log_start.bound_high_watermark(p, follower)
    if p.follower_reads:
        promises.expose(p, follower, previous)
