"""Decide whether a client can play a schedule: all its events are enabled, and the producer sends records in order."""

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.history import producer_window
from epochfuzz.model.kafka.vocabulary.configuration import Acks, Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import Verb, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.state import Partition


def is_playable(events: bytes, protocol: Protocol, settings: Configuration) -> bool:
    """Return whether all events of a schedule are enabled, and a client's producer would send records at these events.

    With acks=all, a client's producer does not send a record to a leader while an earlier record waits for the response
    of another leader.
    """
    execution = Execution(protocol, settings)
    for event in events:
        is_in_order = verb_of(event) is not Verb.PRODUCE or _may_produce(execution.state, replica_of(event))
        if not (is_in_order and execution.apply(event)):
            return False
    return True


def _may_produce(p: Partition, r: int) -> bool:
    unanswered = (number for number in range(p.produced) if not producer_window.is_done(p, number))
    return p.acks != Acks.ALL or all(p.waiting[r] >> number & 1 for number in unanswered)
