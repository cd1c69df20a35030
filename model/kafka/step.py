"""Apply an event to a partition, by the rule of its verb."""

from importlib import import_module

from epochfuzz.model.kafka.vocabulary.event_codes import replica_of, verb_number
from epochfuzz.model.kafka.vocabulary.events import Verb, alphabet, verb_of
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import State

# The rules in the order of the verbs. A verb's rule is the function with the verb's name in the verb's module.
RULES = tuple(getattr(import_module(f"epochfuzz.model.kafka.{verb.module}"), verb.text) for verb in Verb)


def possible_events(*starts: State) -> bytes:
    """Return the events that at least one of the states can ever enable, as bytes in ascending order.

    Only the protocols and settings of the states count.
    """
    return bytes(event for event in alphabet(starts[0].replicas) if any(map(verb_of(event).possible, starts)))


def step(p: State, event: int) -> int:
    """Apply an event to the partition. Returns APPLIED, or a Refusal: why the event is not enabled.

    An event that is not enabled changes at most `p.goals`, the coverage goals reached so far.
    """
    r = replica_of(event)
    if r >= p.replicas:
        return Refusal.NO_SUCH_REPLICA
    joined_incomplete = p.joined_incomplete
    p.joined_incomplete = 0  # a fact about one event; if it stayed, a search would have twice as many states
    refusal: int = RULES[verb_number(event)](p, r)  # the linker turns the table into a choice between calls
    if refusal != APPLIED:
        p.joined_incomplete = joined_incomplete
    return refusal
