"""Mutants of a controller fail-over: the old controller's writes, the new controller's initial state, and fencing."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.controller import controller, fail_over
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import Rival, State

_VERSIONED = "kip-320:controller_writes=versioned"


@in_place_of(
    fail_over.is_moved,
    "the old controller's conditional write is repeated until it succeeds",
    protocol=_VERSIONED,
)
def old_controllers_write_repeated(p: State) -> bool:
    return False


@in_place_of(
    fail_over.is_moved,
    "the old controller's write is conditional on the leader epoch, and not on the ISR",
    protocol=_VERSIONED,
)
def old_controllers_write_ignores_the_isr(p: State) -> bool:
    return bool(p.controller_epoch != p.rival_epoch)


@in_place_of(
    fail_over.is_refused,
    "replicas reject the old controller's decisions from before the fail-over",
    protocol=_VERSIONED,
)
def old_controllers_decision_refused(p: State, r: int) -> bool:
    return True


@in_place_of(fail_over.failover, "a new controller begins with all replicas in the ISR")
def new_controller_takes_everyone_for_in_sync(p: State, r: int) -> int:
    refusal = fail_over.failover(p, r)
    if refusal == APPLIED:
        controller.change_isr(p, (1 << p.replicas) - 1)
    return refusal


@in_place_of(fail_over.failover, "a new controller begins with the leader epochs that it saw when it started")
def new_controller_goes_back_an_epoch(p: State, r: int) -> int:
    refusal = fail_over.failover(p, r)
    if refusal == APPLIED and p.controller_epoch > 0:
        p.controller_epoch -= 1
    return refusal


@in_place_of(controller.elect_member, "a new controller elects in the old controller's epoch")
def new_controller_elects_in_the_same_epoch(p: State, r: int) -> int:
    if p.rival != Rival.ABSENT and p.controller_epoch == p.rival_epoch + 1:
        p.controller_epoch -= 1
    return controller.elect_member(p, r)
