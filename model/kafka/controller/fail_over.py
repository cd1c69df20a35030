"""Fail-over of the controller: another broker takes over, and the old controller does not know (ZooKeeper's time).

Its session with ZooKeeper has expired, in a long pause of its process say, and until it hears of that it goes on: see
rival.py. There is one fail-over at the most. What replicas have against an old controller is the controller epoch that
requests carry: one that has heard from the new controller refuses those of the old (ReplicaManager, Kafka 0.8 to 3.9).
"""

from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import (
    has_rival,
    rival_decides,
    rival_overwrites,
    tells_controllers_apart,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import ControllerWrites
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import Rival, State


def failover(p: State, r: int) -> int:
    """Another broker becomes controller. The old one goes by the decision that is the current one now."""
    if not has_rival(p):
        return Refusal.DOES_NOT_HAPPEN
    if r != 0:
        return Refusal.IS_OF_THE_CONTROLLER
    if p.rival != Rival.ABSENT:
        return Refusal.HAS_FAILED_OVER
    p.rival = Rival.DEPOSED
    if rival_decides(p):
        p.rival_epoch = p.controller_epoch
        p.rival_leader = controller.leader(p)
        p.rival_isr = controller.isr(p)
    p.goals |= Goal.CONTROLLER_FAILED_OVER
    return APPLIED


def is_of_rival(p: State, epoch: int) -> bool:
    """Whether the decision of an epoch, of those that were made one after the other, is the old controller's own."""
    return p.rival == Rival.HAS_DECIDED and not rival_overwrites(p) and epoch == p.rival_epoch + 1


def note_sender(p: State, r: int, epoch: int) -> None:
    """r learns the decision of an epoch: since the fail-over, from the new controller."""
    if tells_controllers_apart(p) and p.rival != Rival.ABSENT and epoch > p.rival_epoch and not is_of_rival(p, epoch):
        p.met |= 1 << r


def forget_sender(p: State, r: int) -> None:
    """r's process dies: which controllers there are it had in memory."""
    p.met &= ~(1 << r)


def is_refused(p: State, r: int) -> bool:
    """Whether r obeys the old controller no more."""
    return tells_controllers_apart(p) and (p.met >> r & 1) != 0


def is_moved(p: State) -> bool:
    """Whether the partition is no longer as the old controller knows it, so that a conditional write fails."""
    if p.controller_writes == ControllerWrites.UNCONDITIONAL:
        return False
    return p.controller_epoch != p.rival_epoch or controller.isr(p) != p.rival_isr
