"""One step: the rule of an event byte, applied to a partition."""

from importlib import import_module

from epochfuzz.model.kafka.vocabulary.events import Verb, alphabet, verb_of
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import State

# The rules in the order of the verbs. The rule has the name of the verb, in the module of the verb's declaration.
RULES = tuple(getattr(import_module(f"epochfuzz.model.kafka.{verb.module}"), verb.text) for verb in Verb)


def possible_events(*starts: State) -> bytes:
    """Return the events that can be enabled under the constants of any of some states, in byte order."""
    return bytes(event for event in alphabet(starts[0].replicas) if any(map(verb_of(event).possible, starts)))


def step(p: State, event: int) -> int:
    """Apply an event and return APPLIED, or the Refusal that names the precondition that does not hold.

    If it returns a Refusal, nothing changed.
    """
    r = event & 7  # an event is verb << 3 | replica
    if r >= p.replicas:
        return Refusal.NO_SUCH_REPLICA
    joined_incomplete = p.joined_incomplete
    p.joined_incomplete = 0  # a fact about one event; if it stayed, a search would have twice as many states
    refusal: int = RULES[event >> 3](p, r)  # the linker turns the table into a choice between calls
    if refusal != APPLIED:
        p.joined_incomplete = joined_incomplete
    return refusal
