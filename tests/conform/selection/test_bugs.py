"""Schedules of known bugs: each schedule fails a system with the bug, and no correct system."""

from collections.abc import Callable
from random import Random

import pytest

from epochfuzz.harness.conform.client.playable import is_playable
from epochfuzz.harness.conform.run import bugs
from epochfuzz.harness.conform.run.bugs import KnownBug, known_bugs
from epochfuzz.harness.conform.run.selection import Selection, schedule
from epochfuzz.harness.serve.settings import settings_for_clients
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol
from tests.conform.running import SUBJECT
from tests.conftest import Ended

RELEASE = parse_protocol("kafka-2.6.1")
CLIENTS = settings_for_clients(Configuration(unclean_leader_election=True, consumer_group=True))


def broken(protocol: Protocol, events: bytes) -> set[str]:
    """The properties that a schedule breaks at any of its events."""
    execution, names = Execution(protocol, CLIENTS), set[str]()
    for event in events:
        execution.apply(event)
        names.update(execution.model.judgement.named(execution.broken()))
    return names


def test_known_bugs_of_clients_are_in_producers_and_consumers() -> None:
    assert [(bug.choice, bug.breaks) for bug in known_bugs(RELEASE, CLIENTS, is_client=True)] == [
        ("idempotence=none", "no-duplicate"),
        ("idempotence=leader_only", "no-duplicate"),
        ("consumer_position=offset", "consumer-no-skip"),
        ("consumer_restart=offset", "consumer-no-skip"),
        ("consumer_restart=unvalidated", "consumer-no-skip"),
    ]


@pytest.mark.parametrize("number", range(10))
def test_a_schedule_of_a_known_bug_breaks_a_guarantee_only_with_the_bug_and_at_its_last_event(number: int) -> None:
    known = known_bugs(RELEASE, CLIENTS, is_client=True)
    bug = known[number % len(known)]
    events = bugs.schedule(RELEASE, CLIENTS, 1, number, is_client=True)
    assert events is not None
    assert bug.breaks in broken(bug.protocol, events)
    assert bug.breaks not in broken(bug.protocol, events[:-1])
    assert bug.breaks not in broken(RELEASE, events)


def test_schedules_of_different_seeds_and_numbers_differ() -> None:
    drawn = {
        schedule(Selection.BUGS, RELEASE, CLIENTS, seed, number, is_client=True)
        for seed in (1, 2)
        for number in range(10)
    }
    assert len(drawn) == 20


def test_known_bugs_leave_out_bugs_that_need_an_unset_setting() -> None:
    names = {bug.choice for bug in known_bugs(RELEASE, settings_for_clients(Configuration()), is_client=True)}
    assert names == {"idempotence=none", "idempotence=leader_only"}  # without unclean elections no log diverges


def test_a_protocol_with_a_replaced_mechanism_has_known_bugs_too() -> None:
    protocol = parse_protocol("kip-320:idempotence=none")
    assert [bug.choice for bug in known_bugs(protocol, CLIENTS, is_client=True)] == [
        "consumer_position=offset",
        "consumer_restart=offset",
        "consumer_restart=unvalidated",
    ]


def test_selection_bugs_draws_random_schedules_if_there_is_no_known_bug() -> None:
    settings = Configuration()  # without retries and consumers
    assert known_bugs(RELEASE, settings, is_client=True) == ()
    drawn, random = (
        schedule(each, RELEASE, settings, 1, 2, is_client=True) for each in (Selection.BUGS, Selection.RANDOM)
    )
    assert drawn == random


def test_a_schedule_that_breaks_the_property_without_the_bug_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bug = known_bugs(RELEASE, CLIENTS, is_client=True)[0]
    first = bug.schedule(Random(7))
    monkeypatch.setattr(KnownBug, "_breaks_without", lambda self, events: events == first)
    assert bug.schedule(Random(7)) not in (None, first)


def test_conform_names_the_bugs_of_its_schedules(epochfuzz: Callable[..., Ended]) -> None:
    words = ("--selection", "bugs", "--schedules", 3, "--seed", 1, "--", *SUBJECT)
    ended = epochfuzz("conform", "--protocol", "kip-320", *words)
    assert ended.code == 0
    assert "each schedule shows one of these bugs, if the system has it: truncation=high_watermark, " in ended.out


def test_cluster_fuzz_rejects_the_selection_of_known_bugs(epochfuzz: Callable[..., Ended]) -> None:
    ended = epochfuzz("cluster", "fuzz", "--for", "1s", "--selection", "bugs")
    assert (ended.code, ended.err) == (
        2,
        "epochfuzz: cluster fuzz has no --selection bugs; choose random or coverage\n",
    )


def test_a_client_can_play_schedules_of_known_bugs_and_no_random_schedules() -> None:
    drawn = [schedule(Selection.BUGS, RELEASE, CLIENTS, 1, number, is_client=True) for number in range(10)]
    at_random = [schedule(Selection.RANDOM, RELEASE, CLIENTS, 1, number) for number in range(10)]
    playable, by_chance = (sum(is_playable(each, RELEASE, CLIENTS) for each in events) for events in (drawn, at_random))
    assert (playable, by_chance) == (10, 0)
