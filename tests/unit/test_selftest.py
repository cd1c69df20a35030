"""The defects that can be detected, each caught by the default strategy."""

import json

import pytest

from epochfuzz.harness.commands import selftest as command
from epochfuzz.harness.defects import DEFECTS, hunting, planted
from epochfuzz.harness.defects.selftest import catch, detectable
from epochfuzz.model.configuration import Configuration

SEED = 3
PLAIN = Configuration(replicas=3)


@pytest.mark.parametrize("defect", detectable(), ids=lambda defect: defect.name)
def test_random_schedules_catch_the_defect(defect):
    assert catch(defect, SEED).property is not None


def hunter(protocol, settings, judged):
    parsed = planted.module("model.protocols").parse_protocol(protocol)
    return planted.module("harness.search.hunt").Hunter(parsed, settings, judged)


def test_the_protocol_without_a_defect_is_not_caught():
    assert hunter("kip-320", PLAIN, judged=127).first("swarm", SEED, 5_000) is None


def test_the_first_schedule_that_a_hunt_finds_is_the_first_that_breaks_something_interpreted():
    settings = Configuration()
    subject = hunter("hw", settings, judged=1)
    number, schedule = subject.first("swarm", SEED, 10_000)
    deck = planted.module("harness.search.generate").deck_for(settings)
    draw = planted.module("harness.search.generate").schedule
    broken = [hunting.broken("hw", settings, draw(SEED, i, deck)) & 1 for i in range(number + 1)]
    assert broken == [0] * number + [1]
    assert hunting.broken("hw", settings, schedule) & 1
    assert not hunting.broken("hw", settings, schedule[:-1]) & 1


def test_a_hunt_gives_up_after_the_schedules_it_was_given():
    subject = hunter("hw", Configuration(), judged=1)
    number, _ = subject.first("swarm", SEED, 10_000)
    assert subject.first("swarm", SEED, number) is None
    assert subject.first("swarm", SEED, number + 1)[0] == number


@pytest.mark.parametrize("strategy", ["uniform", "swarm", "guided"])
def test_a_strategy_gives_the_same_schedules_for_the_same_seed_and_others_for_another(strategy):
    subject = hunter("hw", Configuration(), judged=1)
    assert subject.first(strategy, 1, 100_000) == subject.first(strategy, 1, 100_000)
    assert subject.first(strategy, 1, 100_000) != subject.first(strategy, 2, 100_000)


def test_a_judging_that_sees_everything_is_not_caught():
    judging = next(defect for defect in DEFECTS if defect.in_judging)
    assert hunting.first_not_seen(judging, Configuration(records=1, epochs=0), SEED, 20) is None


def test_selftest_tells_of_every_catch(capsys):
    assert command.selftest(seed=SEED, json=True) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["caught"]
    assert [each["name"] for each in document["defects"]] == [defect.name for defect in detectable()]
