"""Healing: all faults stop, dead replicas restart, replicas learn every update, and followers fetch until they agree.

All live replicas must have equal logs after healing, for every schedule. The property `convergence` checks this.
"""

from epochfuzz.model.kafka.broker import registration
from epochfuzz.model.kafka.clients import coordinator
from epochfuzz.model.kafka.controller import broker_epochs, controller, eligible_leaders
from epochfuzz.model.kafka.history import produce_purgatory
from epochfuzz.model.kafka.partition import alter_partition, delayed_fetch, isr, leadership, processes, replication
from epochfuzz.model.kafka.storage import log, log_start
from epochfuzz.model.kafka.vocabulary.in_force import (
    has_late_requests,
    has_retention,
    registers_in_two_steps,
    tracks_eligible_leaders,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import HighWatermarkGate, IsrChange, Registration
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import EPOCHS, NONE, Phase, State, Transaction


def heal(p: State) -> None:
    """Stop all faults, and let the partition run until nothing changes.

    If the partition has no leader after all replicas have restarted, the function elects a leader, as a controller
    would.
    """
    if p.registration == Registration.FENCED:
        fence_the_dead(p)
    return_all(p)
    if controller.leader(p) == NONE:
        choose_leader(p)
    inform_all(p)
    if p.isr_change == IsrChange.REQUEST:
        settle_isr(p)
    if controller.true_leader(p) != NONE:
        coordinator.finish(p, controller.true_leader(p))
    # A follower truncates at most once in each epoch. After its truncations each round brings a record. Two more rounds
    # bring the high watermark. The new high watermark completes the waiting requests, and ends the transaction.
    for _ in range(3 * EPOCHS):
        if (
            has_converged(p)
            and not produce_purgatory.anywhere(p)
            and not (p.delayed_fetch and delayed_fetch.anywhere(p))
            and not (has_late_requests(p) and p.transaction != Transaction.NONE)
        ):
            return
        fetch_round(p)


def fence_the_dead(p: State) -> None:
    """Take leadership from dead replicas and remove them from the ISR, with at most one new leader epoch.

    The event `expire` would need a leader epoch for each dead replica, and a state has room for few leader epochs.
    """
    members = controller.isr(p)
    for r in range(p.replicas):
        if broker_epochs.is_away(p, r) and (members & ~(1 << r) != 0 or tracks_eligible_leaders(p)):
            members &= ~(1 << r)
    leader = controller.leader(p)
    if leader != NONE and broker_epochs.is_away(p, leader):
        controller.end_leadership(p, leader, members)
    elif members != controller.isr(p):
        controller.decide(p, leader, members)


def return_all(p: State) -> None:
    """Start every dead replica, register every new process, and unfence all replicas."""
    p.fenced = 0
    for r in range(p.replicas):
        if not p.up[r]:
            if p.registration == Registration.FENCED and not registers_in_two_steps(p):
                eligible_leaders.follow_registration(p, r)
            processes.start(p, r)
        if broker_epochs.is_unregistered(p, r):
            registration.take_in(p, r)


def choose_leader(p: State) -> None:
    """Elect the first member of the ISR, if the partition has no leader.

    If the ISR is empty, elect the first eligible leader replica, or else the last known leader (KIP-966).
    """
    for r in range(p.replicas):
        if controller.leader(p) == NONE:
            if controller.isr(p) >> r & 1:
                controller.decide(p, r, controller.isr(p))
            elif controller.replaces_isr(p, r):
                controller.elect_without_isr(p, r)


def settle_isr(p: State) -> None:
    """Let the controller respond to every pending change of the ISR, and let the replicas learn the results."""
    for r in range(p.replicas):
        alter_partition.alter(p, r)
        alter_partition.altered(p, r)
    inform_all(p)


def inform_all(p: State) -> None:
    """Let every replica learn all leader-and-ISR updates."""
    for r in range(p.replicas):
        while leadership.notify(p, r) == APPLIED:
            pass


def fetch_round(p: State) -> None:
    """Let every follower receive the response in flight, fetch once, and receive the new response.

    If the high watermark waits for min.insync.replicas (KIP-966), followers that have caught up also join the ISR.
    """
    for r in range(p.replicas):
        if p.delayed_fetch:
            delayed_fetch.expire_fetch(p, r)
        replication.receive(p, r)
        replication.fetch(p, r)
        if p.delayed_fetch:
            delayed_fetch.expire_fetch(p, r)
        replication.receive(p, r)
        if p.high_watermark_gate == HighWatermarkGate.MIN_ISR:
            isr.expand(p, r)
            settle_isr(p)


def has_converged(p: State) -> bool:
    """Return whether all live replicas have equal logs and equal high watermarks, and no replica has to truncate.

    Dead replicas don't count: up to Kafka 2.0.0 a follower's process may end while the follower catches up
    (OutOfRange.HALT).
    """
    if has_retention(p) and log_start.behind(p, controller.true_leader(p)) != 0:
        return False
    live = NONE
    for r in range(p.replicas):
        if p.up[r]:
            if p.phase[r] != Phase.FETCHING or (live != NONE and not is_equal(p, r, live)):
                return False
            live = r
    return True


def is_equal(p: State, r: int, other: int) -> bool:
    """Return whether two replicas have equal logs (records and leader epochs) and equal high watermarks."""
    if p.leo[r] != p.leo[other] or p.high_watermark[r] != p.high_watermark[other]:
        return False
    if has_retention(p):
        epochs = log.from_start(p, r, other, p.log_epoch[r] ^ p.log_epoch[other])
        return bool(epochs == 0 and log.differences(p, r, other, p.leo[r]) == 0)
    return bool(p.log_record[r] == p.log_record[other] and p.log_epoch[r] == p.log_epoch[other])
