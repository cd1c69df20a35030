"""The rival: a controller that another one took over from, and that decides and sends as if nothing had happened.

It may decide once; whom it tells, see leadership.py. What comes of it is up to how decisions are written. Without any
check it overwrites what the new controller decides, which never sees it: two leaders of one leader epoch. A conditional
write fails once anything has changed, and else the decision is one like any other (KafkaZkClient.updateLeaderAndIsr, up
to Kafka 2.0). Since KAFKA-6082 every write checks the controller epoch as well, and fails.
"""

from epochfuzz.model.kafka.controller import controller, fail_over
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import has_rival, rival_decides, rival_overwrites
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import Rival, State


def rival_elect(p: State, r: int) -> int:
    """Have the old controller make r leader."""
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
    """Whether the old controller can make a decision."""
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
    """Whether r is one that the old controller, by what it knows, may make leader."""
    if not p.up[r]:
        return Refusal.IS_DOWN
    if r == p.rival_leader:
        return Refusal.IS_RIVAL_LEADER
    return APPLIED if p.rival_isr >> r & 1 else Refusal.NOT_IN_RIVAL_ISR
