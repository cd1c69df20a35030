"""The deposed controller: it makes and sends one more update, although another controller has taken over.

The effect of the update depends on the kind of write. An unconditional write overwrites the state in ZooKeeper, and the
new controller never notices, so one leader epoch can have two leaders. A conditional write, up to Kafka 2.0, fails if
the partition has changed since the fail-over (KafkaZkClient.updateLeaderAndIsr). If a conditional write succeeds, the
new controller decides from the updated state. Since KAFKA-6082 every write also checks the controller epoch, so the
deposed controller's write always fails.
"""

from epochfuzz.model.kafka.controller import controller, fail_over
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import has_rival, rival_decides, rival_overwrites
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import Rival, State


def rival_elect(p: State, r: int) -> int:
    """Let the deposed controller elect r."""
    refusal = why_not_decided(p)
    if refusal == APPLIED:
        refusal = why_not_elected(p, r)
    if refusal != APPLIED:
        return refusal
    p.rival = Rival.HAS_DECIDED
    p.goals |= Goal.RIVAL_DECIDED
    if rival_overwrites(p):
        p.rival_leader = r
        return APPLIED
    return controller.elect_member(p, r)


def why_not_decided(p: State) -> int:
    """Return why the deposed controller cannot write an update, or APPLIED if it can."""
    if not has_rival(p):
        return Refusal.DOES_NOT_HAPPEN
    if p.rival == Rival.ABSENT:
        return Refusal.HAS_NOT_FAILED_OVER
    if not rival_decides(p):
        return Refusal.CONTROLLER_MOVED
    if p.rival == Rival.HAS_DECIDED:
        return Refusal.RIVAL_HAS_DECIDED
    if fail_over.is_moved(p):
        return Refusal.BAD_VERSION
    return APPLIED if p.rival_epoch < p.epochs else Refusal.EPOCHS_BOUND


def why_not_elected(p: State, r: int) -> int:
    """Return why the deposed controller does not elect r, or APPLIED if it does.

    The deposed controller uses the leader and the ISR that it knew at the fail-over.
    """
    if not p.up[r]:
        return Refusal.IS_DOWN
    if r == p.rival_leader:
        return Refusal.IS_RIVAL_LEADER
    return APPLIED if p.rival_isr >> r & 1 else Refusal.NOT_IN_RIVAL_ISR
