"""What is in force: what follows from the constants of a state, its mechanisms and settings, asked in one place.

`p` is a state, or whatever has the constants by their names.
"""

from collections.abc import Callable
from typing import Any

from epochfuzz.model.kafka.vocabulary.mechanisms import (
    MECHANISMS,
    Choice,
    ControllerRequests,
    ControllerWrites,
    EligibleLeaders,
    Fencing,
    FollowerFenceEpoch,
    Idempotence,
    IsrChange,
    IsrEligibility,
    LastFetchedEpoch,
    LastKnownLeader,
    LateAnswer,
    Leaderless,
    PendingProduce,
    Registration,
    RemoteLeo,
    RemoteLeoOutOfRange,
    Truncation,
)


def checks_logs_on_fetch(p: Any) -> bool:
    """Whether a fetch is where a leader tells a follower that their logs diverge (KIP-595)."""
    return bool(p.truncation == Truncation.ON_FETCH)


def answers_survive_decisions(p: Any) -> bool:
    """Whether a response in flight is kept whatever decision its follower learns, and looked at when it arrives."""
    return bool(p.late_answer != LateAnswer.SAME_EPOCH)


def skips_question(p: Any) -> bool:
    """Whether a follower without any epoch in its cache does not ask where one ends (AbstractFetcherThread since 2.1).

    Up to 2.0 it asks for UNDEFINED_EPOCH.
    """
    return bool(p.fencing == Fencing.EPOCH)


def loses_last_fetched_epoch(p: Any) -> bool:
    """Return whether a follower may fetch without the epoch of its last record, so that no logs are compared."""
    return checks_logs_on_fetch(p) and p.last_fetched_epoch == LastFetchedEpoch.LOST


def keeps_positions(p: Any) -> bool:
    """Whether a leader that stays leader in a later epoch may go by what it knew of its followers in the one before."""
    return bool(p.remote_leo != RemoteLeo.FORGOTTEN)


def requests_isr_changes(p: Any) -> bool:
    """Whether leaders change the ISR by request to the controller (KIP-497)."""
    return bool(p.isr_change == IsrChange.REQUEST)


def tracks_partition_epoch(p: Any) -> bool:
    """Whether a leader may not know the ISR of its own decision: the controller may change it, or an answer is late.

    The partition epoch rises with every change of leader, leader epoch and ISR; what counts is who knows the latest.
    """
    return requests_isr_changes(p) or p.follower_fence_epoch == FollowerFenceEpoch.KEPT


def shrinking_opens_epoch(p: Any) -> bool:
    """Whether a leader's own request to take somebody out of the ISR opens a leader epoch (KRaft 3.3 to 3.5).

    PartitionChangeBuilder.triggerLeaderEpochBumpIfNeeded, until KAFKA-15021; ZooKeeper's controller never did.
    """
    return requests_isr_changes(p) and has_heartbeats(p) and p.follower_fence_epoch == FollowerFenceEpoch.BUMPED


def leaders_check_eligibility(p: Any) -> bool:
    """Whether a leader looks itself, in its own metadata, whether a replica may join the ISR (KRaft, KIP-841)."""
    return requests_isr_changes(p) and has_heartbeats(p) and p.isr_eligibility >= IsrEligibility.ALIVE


def leaders_check_incarnations(p: Any) -> bool:
    """Whether it looks too whether the replica has registered anew since it fetched (KIP-903)."""
    return leaders_check_eligibility(p) and tracks_incarnations(p)


def waits_for_eligible_replicas_only(p: Any) -> bool:
    """Whether a leader's high watermark waits for a replica outside the ISR only if it may join (KAFKA-15021, 3.6)."""
    return leaders_check_eligibility(p) and p.follower_fence_epoch == FollowerFenceEpoch.KEPT


def keeps_metadata_of_stale_leaders(p: Any) -> bool:
    """Return whether the high watermark of a stale leader depends on which replicas its own metadata shows fenced."""
    return has_lag_time(p) and waits_for_eligible_replicas_only(p)


def reads_isr_twice(p: Any) -> bool:
    """Whether it matters that a leader reads in the metadata log a change of the ISR that it knows from a response.

    Partition.makeLeader evaluates the high watermark once more, for which the lag time may have passed since.
    """
    return has_lag_time(p) and leaders_check_eligibility(p)


def evaluates_at_every_fetch(p: Any) -> bool:
    """Whether a leader evaluates its high watermark at a fetch from the offset of the last one, as up to Kafka 2.3.

    Partition.updateReplicaLogReadResult; Partition.updateFollowerFetchState looks at the offset (2.4). It makes a
    difference only where the lag time may have passed since.
    """
    return bool(p.lag_time and p.remote_leo_out_of_range == RemoteLeoOutOfRange.UNKNOWN)


def restarts_the_clock_of_all(p: Any) -> bool:
    """Whether a re-elected leader takes its election for the last fetch of replicas outside the ISR, as up to 3.2."""
    return not has_heartbeats(p)


def tracks_incarnations(p: Any) -> bool:
    """Whether a leader knows of which incarnation of a broker it has heard (KIP-903)."""
    return bool(p.isr_eligibility >= IsrEligibility.INCARNATION_RACY)


def has_heartbeats(p: Any) -> bool:
    """Whether the controller fences a broker until its heartbeats are back (KRaft)."""
    return bool(p.leaderless == Leaderless.OBEYED)


def tracks_eligible_leaders(p: Any) -> bool:
    """Whether the controller has eligible leader replicas (KIP-966)."""
    return bool(p.eligible_leaders != EligibleLeaders.NONE)


def falls_back_to_last_known_leader(p: Any) -> bool:
    """Whether the controller remembers who led last, for where nobody else is left to lead."""
    return tracks_eligible_leaders(p) and p.last_known_leader != LastKnownLeader.NONE


def tracks_waiting(p: Any) -> bool:
    """Whether it has to be known which acks=all requests wait where: else they are those that a leader appended."""
    return bool(p.retries or p.pending_produce == PendingProduce.KEPT)


def remembers_cut_records(p: Any) -> bool:
    """Whether a replica takes records for its own that it has truncated from its log."""
    return bool(p.retries and p.idempotence == Idempotence.KEPT_AT_TRUNCATION)


def retries(p: Any) -> bool:
    """Whether a producer sends a record again that it has no answer for."""
    return bool(p.retries)


def has_consumer(p: Any) -> bool:
    """Whether there is a consumer that reads record by record, and keeps its place when the leader changes."""
    return bool(p.consumer)


def has_rival(p: Any) -> bool:
    """Whether there may be two controllers: one that took over, and the old one, which does not know."""
    return bool(p.controllers > 1)


def rival_decides(p: Any) -> bool:
    """Whether a controller that another one took over from can still make a decision."""
    return has_rival(p) and p.controller_writes != ControllerWrites.CONTROLLER_EPOCH


def rival_overwrites(p: Any) -> bool:
    """Whether that decision goes past the controller that took over."""
    return has_rival(p) and p.controller_writes == ControllerWrites.UNCONDITIONAL


def tells_controllers_apart(p: Any) -> bool:
    """Whether a replica refuses what is left of an old controller's requests once it has heard from the new one."""
    return rival_decides(p) and p.controller_requests == ControllerRequests.CONTROLLER_EPOCH


def has_lag_time(p: Any) -> bool:
    """Return whether time passes in `lapse` only, and not before every event."""
    return bool(p.lag_time)


def tracks_caught_up(p: Any) -> bool:
    """Return whether it has to be known which followers a leader has seen caught up."""
    return requests_isr_changes(p) or has_lag_time(p)


def has_delayed_fetch(p: Any) -> bool:
    """Return whether a fetch that has no records to return waits at its leader."""
    return bool(p.delayed_fetch)


def answers_delayed_fetches_first(p: Any) -> bool:
    """Whether a leader that appends answers the fetches that wait before it evaluates its high watermark, up to 2.1."""
    return bool(p.registration == Registration.RESUME)


def has_transactions(p: Any) -> bool:
    """Whether records are produced in transactions."""
    return bool(p.transactions)


# Under which other choices and settings a mechanism makes any difference, of those that do not always.
_APPLIES: dict[str, Callable[[Any], bool]] = {
    "truncate_when": lambda p: not checks_logs_on_fetch(p),
    "diverging_fetch": checks_logs_on_fetch,
    "diverging_high_watermark": checks_logs_on_fetch,
    "last_fetched_epoch": checks_logs_on_fetch,
    "effective_isr": requests_isr_changes,
    "isr_version": requests_isr_changes,
    "isr_answer": requests_isr_changes,
    "isr_queue": requests_isr_changes,
    "isr_duplicate": requests_isr_changes,
    "isr_refresh": tracks_partition_epoch,
    "stale_controller": requests_isr_changes,
    "last_known_leader": tracks_eligible_leaders,
    "idempotence": retries,
    "unknown_producer": retries,
    "consumer_position": has_consumer,
    "controller_writes": has_rival,
    "controller_requests": rival_decides,
    "stable_offset": has_transactions,
}


def applies(mechanism: str, p: Any) -> bool:
    """Whether a mechanism makes any difference beside the constants of `p`, a state or whatever has them by name."""
    return mechanism not in _APPLIES or _APPLIES[mechanism](p)


def choices_of(mechanism: str, p: Any) -> list[Choice]:
    """Return the choices of a mechanism that come to different things beside the constants of `p`."""
    diverging_any = LateAnswer.DIVERGING_ANY
    return [each for each in MECHANISMS[mechanism] if each is not diverging_any or checks_logs_on_fetch(p)]
