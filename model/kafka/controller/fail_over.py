"""Fail-over of the controller: another broker takes over, and the old controller does not notice this yet (ZooKeeper).

The old controller's session with ZooKeeper has expired, for example in a long pause of its process. The old controller
continues to act as controller until it learns of the fail-over, see deposed_controller.py. There is at most one
fail-over. The controller epoch in requests protects the replicas: a replica that has received a request of the new
controller rejects requests of the old one (ReplicaManager, Kafka 0.8 to 3.9).
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
    """Make another broker the controller. The deposed controller remembers the current update."""
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
    """Return whether `epoch` is the leader epoch of a conditional write by the deposed controller.

    The new controller knows this epoch. For an unconditional write the result is False, because the new controller
    never notices this write.
    """
    return p.rival == Rival.HAS_DECIDED and not rival_overwrites(p) and epoch == p.rival_epoch + 1


def note_sender(p: State, r: int, epoch: int) -> None:
    """Note that r knows the new controller, if the new controller made the update that opened `epoch`."""
    if tells_controllers_apart(p) and p.rival != Rival.ABSENT and epoch > p.rival_epoch and not is_of_rival(p, epoch):
        p.met |= 1 << r


def forget_sender(p: State, r: int) -> None:
    """Note that r no longer knows which controller is the new one, because r's process dies."""
    p.met &= ~(1 << r)


def is_refused(p: State, r: int) -> bool:
    """Return whether r rejects requests of the deposed controller, because r knows the new one."""
    return tells_controllers_apart(p) and (p.met >> r & 1) != 0


def is_moved(p: State) -> bool:
    """Return whether a write of the deposed controller fails because the partition has changed since the fail-over.

    Returns False if the deposed controller writes without a condition.
    """
    if p.controller_writes == ControllerWrites.UNCONDITIONAL:
        return False
    return p.controller_epoch != p.rival_epoch or controller.isr(p) != p.rival_isr
