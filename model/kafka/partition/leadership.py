"""Leadership: a replica learns a leader-and-ISR update (LeaderAndIsr), and leads, follows, or waits for a leader."""

from epochfuzz.model.kafka.controller import broker_epochs, controller, fail_over, leader_metadata
from epochfuzz.model.kafka.history import produce_purgatory, promises
from epochfuzz.model.kafka.partition import (
    alter_partition,
    delayed_fetch,
    flight,
    high_watermark,
    lag_time,
    partition_epoch,
    processes,
    truncation,
    truncation_on_fetch,
)
from epochfuzz.model.kafka.storage import epoch_cache
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import (
    fails_fetchers,
    has_retention,
    registers_in_two_steps,
    rival_overwrites,
    tracks_partition_epoch,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import EpochCache, RemoteLeo
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Incarnation, Phase, Rival, State


def notify(p: State, r: int) -> int:
    """Let r learn the next leader-and-ISR update. If there is none, let r learn changes within r's leader epoch.

    Such a change is a new ISR, or a broker that was fenced or registered again. Returns APPLIED, or a Refusal.
    """
    if not p.up[r]:
        return Refusal.IS_DOWN
    if broker_epochs.is_unregistered(p, r):
        return Refusal.IS_NOT_REGISTERED
    epoch = controller.next_decision(p, r)
    if epoch == NONE:
        return partition_epoch.learn_isr(p, r)
    if fail_over.is_of_rival(p, epoch) and fail_over.is_refused(p, r):
        return Refusal.STALE_CONTROLLER_EPOCH
    learn(p, r, epoch)
    return APPLIED


def catch_up(p: State, r: int) -> int:
    """Let r learn the latest leader-and-ISR update, and skip all earlier ones that r has not learned.

    Returns APPLIED, or a Refusal.
    """
    if not p.up[r]:
        return Refusal.IS_DOWN
    if broker_epochs.is_unregistered(p, r):
        return Refusal.IS_NOT_REGISTERED
    if p.controller_epoch - p.known_epoch[r] < 2:
        return Refusal.LESS_THAN_TWO_EPOCHS_BEHIND
    epoch = controller.latest_decision(p, r)
    if epoch == NONE:
        return Refusal.KNOWS_LATEST_EPOCH
    learn(p, r, epoch)
    p.goals |= Goal.EPOCH_MISSED
    return APPLIED


def learn(p: State, r: int, epoch: int) -> None:
    """Let r learn the controller's leader-and-ISR update that opened the leader epoch `epoch`."""
    fail_over.note_sender(p, r, epoch)
    adopt(p, r, epoch, p.decided_leader[epoch], p.decided_isr[epoch])


def adopt(p: State, r: int, epoch: int, leader: int, members: int) -> None:
    """Let r adopt a leader-and-ISR update: its epoch, its leader, and its ISR."""
    previous_leader = p.known_leader[r]
    epoch_missed = epoch > p.known_epoch[r] + 1
    flight.outlive_decision(p, r)
    if registers_in_two_steps(p):
        p.incarnation[r] = Incarnation.CAUGHT_UP
    p.known_epoch[r] = epoch
    p.known_leader[r] = leader
    take_role(p, r, previous_leader, epoch_missed, members)


def take_role(p: State, r: int, previous_leader: int, epoch_missed: bool, members: int) -> None:
    """Let r take the role that it has learned: r leads with `members` as the ISR, follows, or waits for a leader."""
    leader = p.known_leader[r]
    truncation_on_fetch.begin_fetching(p, r)
    if fails_fetchers(p):
        p.fetcher_failed[r] = 0  # AbstractFetcherManager.addFetcherForPartitions
    if leader == r:
        if previous_leader == r:
            stay_leader(p, r, epoch_missed)
        lead(p, r, previous_leader == r, members)
        return
    step_down(p, r)
    if leader == NONE:
        p.phase[r] = Phase.FETCHING
    elif truncation.is_due(p, leader != previous_leader, epoch_missed):
        truncation.begin(p, r)


def step_down(p: State, r: int) -> None:
    """End r's leadership: fail the requests that wait at r, and clear everything that r knows as a leader."""
    produce_purgatory.fail(p, r)
    if p.delayed_fetch:
        delayed_fetch.fail(p, r)
    processes.forget_leadership(p, r)


def lead(p: State, r: int, led_before: bool, members: int) -> None:
    """Let r lead the epoch that it has learned, with `members` as the ISR.

    `led_before` is True if r also led the previous epoch that it knew.
    """
    epoch = p.known_epoch[r]
    if not led_before:
        step_down(p, r)
        become_leader(p, r)
    alter_partition.forget_proposal(p, r)
    p.phase[r] = Phase.FETCHING
    p.isr[r] = members
    if p.lag_time:
        lag_time.begin_to_lead(p, r, members)
    is_current = epoch == p.controller_epoch and members == controller.isr(p)
    p.isr_current[r] = 1 if tracks_partition_epoch(p) and is_current else 0
    leader_metadata.learn(p, r)
    p.epoch_start[r] = p.leo[r]
    assign_epoch_start(p, r)
    if not led_before:
        promises.remember_readable(p, r, 0)
    high_watermark.advance_leader(p, r)
    if p.controller_epoch > epoch:
        p.goals |= Goal.LED_AN_OUTDATED_EPOCH


def become_leader(p: State, r: int) -> None:
    """Prepare r to lead after it has followed. A high watermark outside r's log becomes the start of the log.

    Kafka 1.0.2, and 1.1.0 to 2.3, do this in Replica.convertHWToLocalOffsetMetadata. Earlier releases set the high
    watermark to -1, for unknown. A high watermark beyond the end of the log can result from truncation.cut.
    """
    p.led_from[r] = p.leo[r]
    if p.high_watermark[r] > p.leo[r]:
        p.high_watermark[r] = 0
    if has_retention(p):
        p.high_watermark[r] = max(p.high_watermark[r], p.log_start[r])


def stay_leader(p: State, r: int, epoch_missed: bool) -> None:
    """Let r continue to lead in a later epoch. Kafka's leader keeps the LEOs of its followers from the earlier epoch.

    All releases from 0.10.2 to trunk keep these LEOs (Partition.makeLeader, isNewLeader). This is a flaw, and some
    protocols of the model have a fix. But in every protocol the leader forgets at what time each replica outside the
    ISR was caught up. These replicas have to fetch again before they join the ISR (Replica.resetReplicaState).
    """
    p.goals |= Goal.LEADER_STAYED
    p.fetched[r] = 0
    p.caught_up[r] = 0
    if p.lag_time:
        lag_time.lead_again(p, r)
    if p.remote_leo == RemoteLeo.FORGOTTEN or (p.remote_leo == RemoteLeo.FORGOTTEN_IF_MISSED and epoch_missed):
        processes.forget_followers(p, r)


def assign_epoch_start(p: State, r: int) -> None:
    """Add r's leader epoch to r's epoch cache, because r begins to lead. r has appended nothing yet (KAFKA-7415)."""
    if p.epoch_cache == EpochCache.KAFKA_7415:
        epoch_cache.assign(p, r, p.known_epoch[r], p.leo[r])


def rival_notify(p: State, r: int) -> int:
    """Let r learn the update that the deposed controller wrote unconditionally, unnoticed by the new controller.

    Returns APPLIED, or a Refusal.
    """
    if not rival_overwrites(p):
        return Refusal.DOES_NOT_HAPPEN
    if p.rival != Rival.HAS_DECIDED:
        return Refusal.RIVAL_HAS_NOT_DECIDED
    if not p.up[r]:
        return Refusal.IS_DOWN
    if fail_over.is_refused(p, r):
        return Refusal.STALE_CONTROLLER_EPOCH
    if p.known_epoch[r] > p.rival_epoch:
        return Refusal.KNOWS_LATER_EPOCH
    adopt(p, r, p.rival_epoch + 1, p.rival_leader, p.rival_isr)
    p.goals |= Goal.RIVAL_OBEYED
    return APPLIED
