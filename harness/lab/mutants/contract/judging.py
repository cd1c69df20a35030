"""Mutants of the checks themselves: a forgotten guarantee, or an unseen violation.

Only a protocol with a known flaw can show these mutants, because the correct checks must report a violation.
"""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.history import promises
from epochfuzz.model.kafka.vocabulary.state import NONE, State


@in_place_of(
    properties.committed_loss,
    "a committed record counts as kept if any replica has it",
    protocol="hw",
    in_judging=True,
)
def loss_judged_on_any_replica(p: State) -> bool:
    leader = controller.true_leader(p)
    return leader != NONE and p.exposed & ~p.standing[0] & ~p.standing[1] != 0


@in_place_of(
    promises.remember_readable, "the records that consumers could read are forgotten", protocol="hw", in_judging=True
)
def promises_forgotten(p: State, r: int, start: int) -> None:
    exposed = p.exposed
    promises.remember_readable(p, r, start)
    p.exposed = exposed


@in_place_of(
    properties.divergence,
    "logs are never compared, because the comparison ends at offset 0",
    protocol="hw",
    in_judging=True,
)
def divergence_judged_below_nothing(p: State) -> bool:
    return False
