"""Kafka's model: all functions and tables that the engine needs, in one Model."""

from collections.abc import Sequence

from epochfuzz.model.core.model import Cards, Events, Judgement, Model, Points
from epochfuzz.model.kafka.contract import properties, situations
from epochfuzz.model.kafka.contract.replica_abstraction import shape
from epochfuzz.model.kafka.controller.controller import forget_superseded
from epochfuzz.model.kafka.phrases import PHRASES
from epochfuzz.model.kafka.programs import LINKING
from epochfuzz.model.kafka.step import possible_events, step
from epochfuzz.model.kafka.vocabulary import goals
from epochfuzz.model.kafka.vocabulary.configuration import Bounds, Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import encode, replica_of, verb_number
from epochfuzz.model.kafka.vocabulary.events import Verb, event_text, in_order, parse_event, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol
from epochfuzz.model.kafka.vocabulary.state import TABLE, initial


def is_symmetric(wanted: int, protocols: Sequence[Protocol], settings: Configuration) -> bool:
    """Return whether a search for violations may treat states as equal that differ only in replica names.

    `wanted` is the set of properties whose violations the search looks for, one bit each. The result is False in four
    cases:

    * The settings enable an event that concerns no replica, such as a fail-over of the controller. Schedules name the
      first replica for this event.
    * A property in `wanted` is checked at the end, because healing elects the first member of the ISR before the check.
    * Several protocols run side by side, because they are all healed at the end.
    * The protocol has a mutant, because a mutant may prefer a replica.
    """
    if any(verb_of(event).at_no_replica for event in settings.alphabet()):
        return False
    return wanted & properties.AT_END == 0 and len(protocols) == 1 and not protocols[0].defect


KAFKA = Model(
    name="kafka",
    table=TABLE,
    protocol=parse_protocol,
    settings=Configuration(),
    initial=initial,
    events=Events(
        possible=possible_events,
        in_order=in_order,
        text=event_text,
        parse=parse_event,
        verb_number=verb_number,
        replica_of=replica_of,
        encode=encode,
    ),
    step=step,
    judgement=Judgement(properties.NAMES, properties.AT_END, properties.broken_now, properties.broken_at_end),
    points=Points(
        before=situations.before,
        of=situations.situation,
        kind_of=situations.kind_of,
        most=situations.SITUATIONS,
        kinds=situations.KINDS,
        shape=shape,
    ),
    cards=Cards(
        PHRASES,
        vital=frozenset(verb for verb in Verb if verb.is_vital),
        particular=frozenset(verb for verb in Verb if verb.is_particular),
    ),
    linking=LINKING,
    is_symmetric=is_symmetric,
    small=(Bounds(1, 1), Bounds(1, 2), Bounds(1, 3), Bounds(2, 3)),
    goals=goals.NAMES,
    forget=forget_superseded,
)
