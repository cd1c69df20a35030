"""Flaws of releases that no schedule of the model shows (docs/explain/limits.md)."""

import random
from collections.abc import Iterator

import pytest

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.step import possible_events
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, verb_of
from epochfuzz.model.kafka.vocabulary.in_force import requests_isr_changes
from epochfuzz.model.kafka.vocabulary.mechanisms import Fencing
from epochfuzz.model.kafka.vocabulary.protocols import RELEASES
from epochfuzz.model.kafka.vocabulary.state import Alter, Flight, Partition

SCHEDULES = 60
EVENTS = 60
DISTURBING = (Verb.CRASH, Verb.ELECT, Verb.EXPIRE)
ON_ZOOKEEPER = [
    name
    for name, each in RELEASES.items()
    if requests_isr_changes(each.constants) and each.choice("leaderless").text == "ignored"
]
FENCED = [name for name, each in RELEASES.items() if each.choice("fencing") is Fencing.EPOCH]


def states(protocol: str) -> Iterator[Partition]:
    """Yield the states of random schedules with 3 replicas."""
    draws = random.Random(protocol)
    settings = Configuration(replicas=3)
    for _ in range(SCHEDULES):
        execution = Execution(RELEASES[protocol], settings)
        events = possible_events(execution.state)
        weights = [1 if verb_of(event) in DISTURBING else 8 for event in events]
        applied = 0
        while applied < EVENTS:
            applied += execution.apply(draws.choices(events, weights)[0])
            yield execution.state


@pytest.mark.parametrize("protocol", ON_ZOOKEEPER)
def test_no_alter_isr_response_brings_the_zk_version_that_the_leader_knows(protocol: str) -> None:
    """KAFKA-12751 needs a response that changes nothing, and a leader that waits for the response."""
    answered = 0
    for p in states(protocol):
        for r in range(p.replicas):
            if p.alter[r] == Alter.APPLIED and p.alter_mine[r] and p.alter_current[r]:
                answered += 1
                assert not p.isr_current[r]
    assert answered > 0


@pytest.mark.thorough
@pytest.mark.parametrize("protocol", FENCED)
def test_no_fetch_response_carries_a_record_of_a_later_epoch_than_its_follower_knows(protocol: str) -> None:
    """KAFKA-18723 needs a response that the leader sends after it has truncated and appended as a follower."""
    carried = 0
    for p in states(protocol):
        for r in range(p.replicas):
            if p.flight[r] == Flight.RECORDS:
                for i in range(p.flight_count[r]):
                    carried += 1
                    assert log.at(p.flight_record_epoch[r], i) <= p.known_epoch[r]
    assert carried > 0
