"""The next event that an adapter should support: with it, the model can reach the most additional coverage points."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from epochfuzz.harness.conform.oracle import met
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.state import initial


@dataclass(frozen=True)
class NextEvent:
    """An event that an adapter lacks, and the coverage points that the model can reach only with this event."""

    verb: Verb
    opens: frozenset[str]


def next_event(protocols: Sequence[Protocol], settings: Configuration, supported: Iterable[Verb]) -> NextEvent | None:
    """Return the event that opens the most coverage points, or None if the adapter supports all possible events.

    An event opens the points that the model can reach only with this event, under any of the protocols. The function
    estimates these points from random schedules of the model with and without the event.
    """
    verbs = frozenset(supported)
    starts = [initial(protocol, settings) for protocol in protocols]
    missing = [verb for verb in Verb if verb not in verbs and any(map(verb.possible, starts))]
    if not missing:
        return None
    reached = _reached(protocols, settings, verbs)
    return max(
        (NextEvent(verb, _reached(protocols, settings, verbs | {verb}) - reached) for verb in missing),
        key=lambda each: len(each.opens),
    )


def _reached(protocols: Sequence[Protocol], settings: Configuration, verbs: frozenset[Verb]) -> frozenset[str]:
    return frozenset().union(*(met.there_is(protocol, settings, verbs) for protocol in protocols))
