"""What a replica does with a decision of the controller (LeaderAndIsr): lead, follow, or wait without a leader."""

from epochfuzz.model import epoch_cache, high_watermark, promises, replication, truncation
from epochfuzz.model.goals import Goal
from epochfuzz.model.mechanisms import EpochCache
from epochfuzz.model.refusals import APPLIED, Refusal
from epochfuzz.model.state import NONE, Phase, State


def notify(p: State, r: int) -> int:
    """r learns the next decision that is newer than what it knows."""
    if not p.up[r]:
        return Refusal.IS_DOWN
    if p.known_epoch[r] >= p.controller_epoch:
        return Refusal.KNOWS_LATEST_EPOCH
    learn(p, r, p.known_epoch[r] + 1)
    return APPLIED


def catch_up(p: State, r: int) -> int:
    """r learns the latest decision and never sees those between."""
    if not p.up[r]:
        return Refusal.IS_DOWN
    if p.controller_epoch - p.known_epoch[r] < 2:
        return Refusal.LESS_THAN_TWO_EPOCHS_BEHIND
    learn(p, r, p.controller_epoch)
    p.goals |= Goal.EPOCH_MISSED
    return APPLIED


def learn(p: State, r: int, epoch: int) -> None:
    """r learns the decision of `epoch`, newer than any it knows; an answer in flight to it is discarded."""
    previous_leader = p.known_leader[r]
    epoch_missed = epoch > p.known_epoch[r] + 1
    step_down(p, r)
    p.known_epoch[r] = epoch
    p.known_leader[r] = p.decided_leader[epoch]
    take_role(p, r, previous_leader, epoch_missed)


def take_role(p: State, r: int, previous_leader: int, epoch_missed: bool) -> None:
    """r does what a decision makes of it: it leads, follows, or waits for a leader."""
    leader = p.known_leader[r]
    if leader == r:
        become_leader(p, r)
    elif leader == NONE:
        p.phase[r] = Phase.FETCHING
    elif truncation.is_due(p, leader != previous_leader, epoch_missed):
        truncation.begin(p, r)


def step_down(p: State, r: int) -> None:
    """Forget what r knew as a leader and what was in flight to it."""
    replication.discard_answer(p, r)
    p.isr[r] = 0
    p.epoch_start[r] = 0
    for follower in range(p.replicas):
        p.remote_leo[r, follower] = NONE


def become_leader(p: State, r: int) -> None:
    """r leads its known epoch, with the ISR that the controller's decision has now."""
    epoch = p.known_epoch[r]
    p.phase[r] = Phase.FETCHING
    p.isr[r] = p.decided_isr[epoch]
    p.epoch_start[r] = p.leo[r]
    assign_epoch_start(p, r)
    promises.remember_readable(p, r, 0)
    high_watermark.advance_leader(p, r)
    if p.controller_epoch > epoch:
        p.goals |= Goal.LED_AN_OUTDATED_EPOCH


def assign_epoch_start(p: State, r: int) -> None:
    """KAFKA-7415: the epoch cache has the leader's own epoch before any record of it."""
    if p.epoch_cache == EpochCache.KAFKA_7415:
        epoch_cache.assign(p, r, p.known_epoch[r], p.leo[r])
