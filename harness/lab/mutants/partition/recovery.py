"""Mutants of recovery: mistakes in the state that a replica writes to disk, or in the state after its restart."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.broker import faults
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.partition import truncation
from epochfuzz.model.kafka.storage import epoch_cache, log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import NONE, State


@in_place_of(faults.restart, "a replica that restarts treats its whole log as committed")
def recovers_with_log_end_as_high_watermark(p: State, r: int) -> int:
    refusal = faults.restart(p, r)
    if refusal == APPLIED:
        p.high_watermark[r] = p.leo[r]
    return refusal


@in_place_of(faults.crash, "a replica takes the checkpointed high watermark though its log is shorter")
def recovers_with_checkpoint_beyond_its_log(p: State, r: int) -> int:
    refusal = faults.crash(p, r)
    if refusal == APPLIED and p.asynchronous_checkpoint:
        p.high_watermark[r] = p.checkpointed[r]
    return refusal


@in_place_of(faults.restart, "a replica restarts without its high watermark checkpoint", jira="KAFKA-1647")
def checkpoint_lost(p: State, r: int) -> int:
    refusal = faults.restart(p, r)
    if refusal == APPLIED:
        p.high_watermark[r] = 0
    return refusal


@in_place_of(
    faults.checkpoint,
    "a replica checkpoints its log end offset as its high watermark",
    protocol="kip-320:registration=resume",
)
def checkpoint_of_the_log_end(p: State, r: int) -> int:
    refusal = faults.checkpoint(p, r)
    if refusal == APPLIED:
        p.checkpointed[r] = p.leo[r]
    return refusal


@in_place_of(
    faults.restart,
    "a replica that restarts truncates its log to its high watermark before it knows its leader",
)
def recovery_cuts_to_high_watermark(p: State, r: int) -> int:
    refusal = faults.restart(p, r)
    if refusal == APPLIED:
        truncation.cut(p, r, p.high_watermark[r])
    return refusal


@in_place_of(faults.restart, "a replica that restarts has lost its epoch cache")
def recovery_rebuilds_no_epochs(p: State, r: int) -> int:
    refusal = faults.restart(p, r)
    if refusal == APPLIED:
        epoch_cache.truncate_from_end(p, r, 0)
    return refusal


@in_place_of(faults.lose_unflushed, "a log truncated by a power failure keeps its high watermark")
def power_loss_spares_the_high_watermark(p: State, r: int) -> None:
    if p.flushed[r] < p.leo[r]:
        p.goals |= Goal.UNFLUSHED_RECORDS_LOST
    log.truncate(p, r, p.flushed[r])


@in_place_of(
    faults.restart,
    "a replica that restarts remembers its leader, and does not truncate if the leader is the same",
)
def restarted_follower_goes_on_fetching(p: State, r: int) -> int:
    refusal = faults.restart(p, r)
    leader = controller.leader(p)
    if refusal == APPLIED and leader != NONE and leader != r:
        p.known_epoch[r] = p.controller_epoch
        p.known_leader[r] = leader
    return refusal


@in_place_of(
    faults.restart,
    "a leader that restarts keeps leading with an ISR of itself, though it lost the leadership when it registered",
)
def returning_leader_leads_on(p: State, r: int) -> int:
    led = controller.leader(p) == r
    refusal = faults.restart(p, r)
    if refusal == APPLIED and led:
        p.known_leader[r] = r
        p.isr[r] = 1 << r
    return refusal
