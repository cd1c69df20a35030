"""Functions that tell which rules a protocol and its settings have, such as whether leaders change the ISR by request.

`p` is a state, or any object with the mechanisms and settings as attributes.
"""

from collections.abc import Callable
from typing import Any

from epochfuzz.model.kafka.vocabulary.mechanisms import (
    MECHANISMS,
    BelowLogStart,
    Choice,
    ConsumerPosition,
    ConsumerRestart,
    ControllerRequests,
    ControllerWrites,
    DivergingHighWatermark,
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
    ProducerSnapshot,
    Registration,
    RemoteLeo,
    RemoteLeoOutOfRange,
    StaleController,
    Truncation,
)


def checks_logs_on_fetch(p: Any) -> bool:
    """Return whether leaders detect at each fetch that a follower's log has diverged (KIP-595)."""
    return bool(p.truncation == Truncation.ON_FETCH)


def answers_survive_decisions(p: Any) -> bool:
    """Return whether a follower keeps a response in flight when it learns a leader-and-ISR update.

    Such a follower checks the response on arrival. If the function returns False, the follower discards the response
    when it learns the update.
    """
    return bool(p.late_answer != LateAnswer.SAME_EPOCH)


def skips_question(p: Any) -> bool:
    """Return whether a follower with an empty epoch cache fetches at once, without asking for the end of an epoch.

    Kafka does this since 2.1 (AbstractFetcherThread). Up to 2.0 the follower asks for UNDEFINED_EPOCH.
    """
    return bool(p.fencing == Fencing.EPOCH)


def loses_last_fetched_epoch(p: Any) -> bool:
    """Return whether a fetch may lack the last record's epoch, which the leader needs to compare the logs."""
    return checks_logs_on_fetch(p) and p.last_fetched_epoch == LastFetchedEpoch.LOST


def keeps_positions(p: Any) -> bool:
    """Return whether a leader that is elected again may keep the LEOs of its followers from the earlier epoch."""
    return bool(p.remote_leo != RemoteLeo.FORGOTTEN)


def requests_isr_changes(p: Any) -> bool:
    """Return whether leaders change the ISR by a request to the controller (KIP-497)."""
    return bool(p.isr_change == IsrChange.REQUEST)


def requests_may_fail(p: Any) -> bool:
    """Return whether an AlterPartition request can get an error response from a controller that is no longer active."""
    return requests_isr_changes(p) and (p.stale_controller == StaleController.FINAL or p.isr_error != IsrError.RETRIED)


def tracks_partition_epoch(p: Any) -> bool:
    """Return whether a leader's ISR can be outdated although the leader knows the current leader epoch.

    This happens if the controller has changed the ISR, or a response is late. The rules then need to know which
    leaders and requests have the latest partition epoch, a number that rises with every change of the leader, the
    leader epoch or the ISR.
    """
    return requests_isr_changes(p) or p.follower_fence_epoch == FollowerFenceEpoch.KEPT


def shrinking_opens_epoch(p: Any) -> bool:
    """Return whether a leader epoch begins when a leader removes a member from the ISR (KRaft 3.3 to 3.5).

    Kafka's code for this is PartitionChangeBuilder.triggerLeaderEpochBumpIfNeeded, until KAFKA-15021. ZooKeeper's
    controller never begins an epoch for this reason.
    """
    return requests_isr_changes(p) and has_heartbeats(p) and p.follower_fence_epoch == FollowerFenceEpoch.BUMPED


def leaders_check_eligibility(p: Any) -> bool:
    """Return whether a leader checks its own metadata before a replica joins the ISR (KRaft, KIP-841)."""
    return requests_isr_changes(p) and has_heartbeats(p) and p.isr_eligibility >= IsrEligibility.ALIVE


def leaders_check_incarnations(p: Any) -> bool:
    """Return whether a leader also checks that a replica has not registered again since its last fetch (KIP-903).

    The leader makes this check before it proposes the replica for the ISR.
    """
    return leaders_check_eligibility(p) and tracks_incarnations(p)


def waits_for_eligible_replicas_only(p: Any) -> bool:
    """Return whether, outside the ISR, the HW waits only for replicas that may join the ISR (KAFKA-15021, 3.6).

    Before 3.6 the HW waits for every replica outside the ISR that was caught up within the lag time.
    """
    return leaders_check_eligibility(p) and p.follower_fence_epoch == FollowerFenceEpoch.KEPT


def keeps_metadata_of_stale_leaders(p: Any) -> bool:
    """Return whether a stale leader's high watermark depends on its own metadata about fenced replicas."""
    return has_lag_time(p) and waits_for_eligible_replicas_only(p)


def reads_isr_twice(p: Any) -> bool:
    """Return whether the rules must track that a leader learns the same ISR change twice.

    The leader learns the change first from a response, and then from the metadata log. The second time,
    Partition.makeLeader evaluates the high watermark again, and the lag time may have passed meanwhile.
    """
    return has_lag_time(p) and leaders_check_eligibility(p)


def evaluates_at_every_fetch(p: Any) -> bool:
    """Return whether a leader evaluates its HW at every fetch, even from an unchanged offset (up to Kafka 2.3).

    Since 2.4 Partition.updateFollowerFetchState compares the offset. Returns False without `lag_time`, because a second
    evaluation then has the same result.
    """
    return bool(p.lag_time and p.remote_leo_out_of_range == RemoteLeoOutOfRange.UNKNOWN)


def restarts_the_clock_of_all(p: Any) -> bool:
    """Return whether a leader that is elected again counts its election as a fetch of every follower (up to 3.2)."""
    return not has_heartbeats(p)


def tracks_incarnations(p: Any) -> bool:
    """Return whether a leader knows the broker epoch in each follower's last fetch (KIP-903)."""
    return bool(p.isr_eligibility >= IsrEligibility.INCARNATION_RACY)


def has_heartbeats(p: Any) -> bool:
    """Return whether the controller fences a broker that sends no heartbeats (KRaft)."""
    return bool(p.leaderless == Leaderless.OBEYED)


def registers_in_two_steps(p: Any) -> bool:
    """Return whether a restarted broker registers in a separate event, `register` (KRaft).

    The controller must first have ended the session of the broker's former process.
    """
    return has_heartbeats(p) and p.registration == Registration.FENCED


def tracks_eligible_leaders(p: Any) -> bool:
    """Return whether the controller tracks eligible leader replicas (KIP-966)."""
    return bool(p.eligible_leaders != EligibleLeaders.NONE)


def falls_back_to_last_known_leader(p: Any) -> bool:
    """Return whether the controller may elect the last known leader, if no other replica can lead."""
    return tracks_eligible_leaders(p) and p.last_known_leader != LastKnownLeader.NONE


def tracks_waiting(p: Any) -> bool:
    """Return whether the state must list the acks=all requests that wait at each replica.

    Returns False if exactly one request waits for each record that a leader has appended and not committed.
    """
    return bool(p.retries or p.pending_produce == PendingProduce.KEPT)


def loses_disks(p: Any) -> Any:
    """Return whether records on a replica's disk can be lost, by a power loss or a lost directory."""
    return p.power_loss or p.lost_directory


def remembers_cut_records(p: Any) -> bool:
    """Return whether a replica treats truncated records as duplicates, as if its log still had them."""
    return bool(p.retries and p.idempotence == Idempotence.KEPT_AT_TRUNCATION)


def begins_epochs(p: Any) -> bool:
    """Return whether the producer begins a new producer epoch after an error (KIP-360)."""
    return bool(p.producer_epochs and p.retries and not p.transactions) and p.idempotence != Idempotence.NONE


def forgets_records(p: Any) -> bool:
    """Return whether a restarted replica recognises only the last record of a producer that begins new epochs."""
    return p.producer_snapshot == ProducerSnapshot.LAST_RECORD and begins_epochs(p)


def retries(p: Any) -> bool:
    """Return whether the producer sends an unacknowledged record again."""
    return bool(p.retries)


def has_consumer(p: Any) -> bool:
    """Return whether there is a consumer that reads record by record, and keeps its position across leaders."""
    return bool(p.consumer)


def asks_for_epoch_ends(p: Any) -> bool:
    """Return whether the consumer knows its last record's epoch, and asks where that epoch ends (KIP-320)."""
    return has_consumer(p) and p.consumer_position != ConsumerPosition.OFFSET


def has_consumer_group(p: Any) -> bool:
    """Return whether the consumer commits its position, and may restart from there."""
    return bool(p.consumer_group and p.consumer)


def commits_epochs(p: Any) -> bool:
    """Return whether a committed consumer position includes the leader epoch of the last record read (KIP-320)."""
    has_epoch = p.consumer_position != ConsumerPosition.OFFSET and p.consumer_restart != ConsumerRestart.OFFSET
    return has_epoch and has_consumer_group(p)


def commits_known_epochs(p: Any) -> bool:
    """Return whether the consumer also commits the leader epoch that it knows. No release does this."""
    return p.consumer_restart == ConsumerRestart.NEWER_METADATA and commits_epochs(p)


def has_rival(p: Any) -> bool:
    """Return whether the controller may fail over while the deposed controller does not know this."""
    return bool(p.controllers > 1)


def rival_decides(p: Any) -> bool:
    """Return whether a deposed controller can still make a leader-and-ISR update."""
    return has_rival(p) and p.controller_writes != ControllerWrites.CONTROLLER_EPOCH


def rival_overwrites(p: Any) -> bool:
    """Return whether the deposed controller can write an update that the new controller never notices."""
    return has_rival(p) and p.controller_writes == ControllerWrites.UNCONDITIONAL


def tells_controllers_apart(p: Any) -> bool:
    """Return whether a replica that knows the new controller rejects the deposed controller's requests."""
    return rival_decides(p) and p.controller_requests == ControllerRequests.CONTROLLER_EPOCH


def has_lag_time(p: Any) -> bool:
    """Return whether replica.lag.time.max.ms passes only in the event `lapse`, and not before every event."""
    return bool(p.lag_time)


def tracks_caught_up(p: Any) -> bool:
    """Return whether the state must list the followers that were caught up recently, for each leader."""
    return requests_isr_changes(p) or has_lag_time(p)


def has_delayed_fetch(p: Any) -> bool:
    """Return whether a fetch that has no records to return waits at its leader."""
    return bool(p.delayed_fetch)


def answers_delayed_fetches_first(p: Any) -> bool:
    """Return whether a leader responds to waiting fetches after an append, and only then raises its HW (up to 2.1)."""
    return bool(p.registration == Registration.RESUME)


def has_transactions(p: Any) -> bool:
    """Return whether the producer writes its records in transactions."""
    return bool(p.transactions)


def has_late_requests(p: Any) -> bool:
    """Return whether a record or a marker may arrive after the end of its transaction."""
    return bool(p.late_requests and p.transactions and not p.retries)


def has_retention(p: Any) -> bool:
    """Return whether replicas may delete their first records."""
    return bool(p.retention and not p.retries and not p.transactions)


def resets_positions(p: Any) -> bool:
    """Return whether a consumer may have a position without a leader epoch: a committed offset, or a log start."""
    return has_consumer_group(p) or has_retention(p)


def fails_fetchers(p: Any) -> bool:
    """Return whether a follower's fetcher may fail, because a response has a log start beyond the follower's HW.

    This requires a follower that adopts the high watermark and the log start of a diverging response (KAFKA-14704).
    """
    return bool(
        has_retention(p)
        and checks_logs_on_fetch(p)
        and p.below_log_start == BelowLogStart.DIVERGING
        and p.diverging_high_watermark == DivergingHighWatermark.APPLIED
    )


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
    "consumer_epoch_end": asks_for_epoch_ends,
    "consumer_restart": has_consumer_group,
    "producer_bump": begins_epochs,
    "producer_snapshot": begins_epochs,
    "controller_writes": has_rival,
    "controller_requests": rival_decides,
    "stable_offset": has_transactions,
    "late_request": has_late_requests,
    "below_log_start": lambda p: has_retention(p) and checks_logs_on_fetch(p),
}


def applies(mechanism: str, p: Any) -> bool:
    """Return whether the choice of a mechanism has any effect under the protocol and settings of `p`."""
    return mechanism not in _APPLIES or _APPLIES[mechanism](p)


def choices_of(mechanism: str, p: Any) -> list[Choice]:
    """Return the choices of a mechanism that differ in their effect under the protocol and settings of `p`."""
    diverging_any = LateAnswer.DIVERGING_ANY
    return [each for each in MECHANISMS[mechanism] if each is not diverging_any or checks_logs_on_fetch(p)]
