"""Conditions on the constants of a state: its mechanisms and its settings.

`p` is a state, or any object with the constants as attributes.
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
    IsrError,
    LastFetchedEpoch,
    LastKnownLeader,
    LateAnswer,
    Leaderless,
    PendingProduce,
    Registration,
    RemoteLeo,
    RemoteLeoOutOfRange,
    StaleController,
    Truncation,
)


def checks_logs_on_fetch(p: Any) -> bool:
    """Return whether leaders compare logs at each fetch, to detect that a follower's log diverges (KIP-595)."""
    return bool(p.truncation == Truncation.ON_FETCH)


def answers_survive_decisions(p: Any) -> bool:
    """Return whether a response in flight survives the updates that its follower learns.

    The follower then checks the response when it arrives.
    """
    return bool(p.late_answer != LateAnswer.SAME_EPOCH)


def skips_question(p: Any) -> bool:
    """Return whether a follower with an empty epoch cache does not ask for an epoch's end offset.

    AbstractFetcherThread since 2.1. Up to 2.0 it asks for UNDEFINED_EPOCH.
    """
    return bool(p.fencing == Fencing.EPOCH)


def loses_last_fetched_epoch(p: Any) -> bool:
    """Return whether a fetch may lack the epoch of the follower's last record, so that the leader compares no logs."""
    return checks_logs_on_fetch(p) and p.last_fetched_epoch == LastFetchedEpoch.LOST


def keeps_positions(p: Any) -> bool:
    """Return whether a re-elected leader may keep its knowledge of its followers from the earlier epoch."""
    return bool(p.remote_leo != RemoteLeo.FORGOTTEN)


def requests_isr_changes(p: Any) -> bool:
    """Return whether leaders change the ISR by request to the controller (KIP-497)."""
    return bool(p.isr_change == IsrChange.REQUEST)


def requests_may_fail(p: Any) -> bool:
    """Return whether a controller that is no longer active can end a request to change the ISR with an error."""
    return requests_isr_changes(p) and (p.stale_controller == StaleController.FINAL or p.isr_error != IsrError.RETRIED)


def tracks_partition_epoch(p: Any) -> bool:
    """Return whether a leader's ISR may be outdated, although the leader knows the current leader epoch.

    The controller may have changed the ISR, or a response is late. The partition epoch rises with every change of
    leader, leader epoch and ISR. The rules only need to know which replicas have the latest partition epoch.
    """
    return requests_isr_changes(p) or p.follower_fence_epoch == FollowerFenceEpoch.KEPT


def shrinking_opens_epoch(p: Any) -> bool:
    """Return whether a leader's own request to remove a member opens a leader epoch (KRaft 3.3 to 3.5).

    PartitionChangeBuilder.triggerLeaderEpochBumpIfNeeded, until KAFKA-15021; ZooKeeper's controller never did.
    """
    return requests_isr_changes(p) and has_heartbeats(p) and p.follower_fence_epoch == FollowerFenceEpoch.BUMPED


def leaders_check_eligibility(p: Any) -> bool:
    """Return whether a leader checks its own metadata before a replica joins the ISR (KRaft, KIP-841)."""
    return requests_isr_changes(p) and has_heartbeats(p) and p.isr_eligibility >= IsrEligibility.ALIVE


def leaders_check_incarnations(p: Any) -> bool:
    """Return whether the leader also checks if the replica has registered again since its fetch (KIP-903)."""
    return leaders_check_eligibility(p) and tracks_incarnations(p)


def waits_for_eligible_replicas_only(p: Any) -> bool:
    """Return whether the HW waits for a replica outside the ISR only if it may join (KAFKA-15021, 3.6).

    Otherwise the leader's high watermark waits for any replica outside the ISR that was caught up within the lag time.
    """
    return leaders_check_eligibility(p) and p.follower_fence_epoch == FollowerFenceEpoch.KEPT


def keeps_metadata_of_stale_leaders(p: Any) -> bool:
    """Return whether a stale leader's high watermark depends on its own metadata about fenced replicas."""
    return has_lag_time(p) and waits_for_eligible_replicas_only(p)


def reads_isr_twice(p: Any) -> bool:
    """Return whether it matters that a leader learns a change twice: from a response, then from the metadata log.

    Partition.makeLeader evaluates the high watermark again, and the lag time may have passed since the response.
    """
    return has_lag_time(p) and leaders_check_eligibility(p)


def evaluates_at_every_fetch(p: Any) -> bool:
    """Return whether a leader evaluates its HW at every fetch, even from an unchanged offset (up to Kafka 2.3).

    Partition.updateReplicaLogReadResult; Partition.updateFollowerFetchState compares the offset (2.4). A second
    evaluation makes a difference only if the lag time may have passed since the first.
    """
    return bool(p.lag_time and p.remote_leo_out_of_range == RemoteLeoOutOfRange.UNKNOWN)


def restarts_the_clock_of_all(p: Any) -> bool:
    """Return whether a re-elected leader counts its election as the last fetch of replicas outside the ISR.

    Leaders do this up to Kafka 3.2.
    """
    return not has_heartbeats(p)


def tracks_incarnations(p: Any) -> bool:
    """Return whether a leader knows the broker epoch under which each follower fetched (KIP-903)."""
    return bool(p.isr_eligibility >= IsrEligibility.INCARNATION_RACY)


def has_heartbeats(p: Any) -> bool:
    """Return whether the controller fences a broker that sends no heartbeats (KRaft)."""
    return bool(p.leaderless == Leaderless.OBEYED)


def registers_in_two_steps(p: Any) -> bool:
    """Return whether a new process registers in `register`, after the session of the former process (KRaft)."""
    return has_heartbeats(p) and p.registration == Registration.FENCED


def tracks_eligible_leaders(p: Any) -> bool:
    """Return whether the controller has eligible leader replicas (KIP-966)."""
    return bool(p.eligible_leaders != EligibleLeaders.NONE)


def falls_back_to_last_known_leader(p: Any) -> bool:
    """Return whether the controller remembers the last leader, in case no other replica can lead."""
    return tracks_eligible_leaders(p) and p.last_known_leader != LastKnownLeader.NONE


def tracks_waiting(p: Any) -> bool:
    """Return whether the state must record the waiting acks=all requests of each replica.

    Otherwise exactly one request waits for each record that a leader has appended and not committed.
    """
    return bool(p.retries or p.pending_produce == PendingProduce.KEPT)


def remembers_cut_records(p: Any) -> bool:
    """Return whether a replica treats truncated records as if its log still had them."""
    return bool(p.retries and p.idempotence == Idempotence.KEPT_AT_TRUNCATION)


def retries(p: Any) -> bool:
    """Return whether a producer sends an unacknowledged record again."""
    return bool(p.retries)


def has_consumer(p: Any) -> bool:
    """Return whether there is a consumer that reads record by record, and keeps its position across leaders."""
    return bool(p.consumer)


def has_rival(p: Any) -> bool:
    """Return whether there may be two controllers: a new one, and the deposed one, which does not know."""
    return bool(p.controllers > 1)


def rival_decides(p: Any) -> bool:
    """Return whether a deposed controller can still make a leader-and-ISR update."""
    return has_rival(p) and p.controller_writes != ControllerWrites.CONTROLLER_EPOCH


def rival_overwrites(p: Any) -> bool:
    """Return whether the deposed controller's update bypasses the new controller."""
    return has_rival(p) and p.controller_writes == ControllerWrites.UNCONDITIONAL


def tells_controllers_apart(p: Any) -> bool:
    """Return whether a replica that knows the new controller rejects the deposed controller's requests."""
    return rival_decides(p) and p.controller_requests == ControllerRequests.CONTROLLER_EPOCH


def has_lag_time(p: Any) -> bool:
    """Return whether time passes in `lapse` only, and not before every event."""
    return bool(p.lag_time)


def tracks_caught_up(p: Any) -> bool:
    """Return whether the state must record the followers that a leader has seen caught up."""
    return requests_isr_changes(p) or has_lag_time(p)


def has_delayed_fetch(p: Any) -> bool:
    """Return whether a fetch that has no records to return waits at its leader."""
    return bool(p.delayed_fetch)


def answers_delayed_fetches_first(p: Any) -> bool:
    """Return whether a leader that appends responds to waiting fetches before it evaluates its HW (up to 2.1)."""
    return bool(p.registration == Registration.RESUME)


def has_transactions(p: Any) -> bool:
    """Return whether records are produced in transactions."""
    return bool(p.transactions)


# The condition under which a mechanism makes any difference. A mechanism without an entry always makes a difference.
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
    "isr_error": requests_isr_changes,
    "last_known_leader": tracks_eligible_leaders,
    "idempotence": retries,
    "unknown_producer": retries,
    "consumer_position": has_consumer,
    "controller_writes": has_rival,
    "controller_requests": rival_decides,
    "stable_offset": has_transactions,
}


def applies(mechanism: str, p: Any) -> bool:
    """Return whether a mechanism makes any difference with the constants of `p`."""
    return mechanism not in _APPLIES or _APPLIES[mechanism](p)


def choices_of(mechanism: str, p: Any) -> list[Choice]:
    """Return the choices of a mechanism that have different effects with the constants of `p`."""
    diverging_any = LateAnswer.DIVERGING_ANY
    return [each for each in MECHANISMS[mechanism] if each is not diverging_any or checks_logs_on_fetch(p)]
