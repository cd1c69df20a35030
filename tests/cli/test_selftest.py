"""The default strategy catches each detectable mutant.

The compilation of the rules with all mutants takes minutes. test_defects.py has the tests of mutants that need none.
"""

import json

import pytest

from epochfuzz.harness.commands import selftest as command
from epochfuzz.harness.engine.walk import generate
from epochfuzz.harness.engine.walk.hunt import Hunter
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.lab.mutants import DEFECTS, hunting
from epochfuzz.harness.lab.mutants.partition import membership
from epochfuzz.harness.lab.mutants.partition import wrong_truncation as truncation
from epochfuzz.harness.lab.mutants.proofs import judged, undetectable
from epochfuzz.harness.lab.mutants.selftest import catch, detectable
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.goals import Goal
from tests.printed import check_json

pytestmark = pytest.mark.slow

SEED = 3
HUNTED = truncation.truncates_to_high_watermark
EVERY_FAULT = Configuration(
    replicas=3, unclean_leader_election=True, power_loss=True, asynchronous_checkpoint=True, records_per_fetch=2
)


@pytest.mark.parametrize("defect", detectable(), ids=lambda defect: defect.name)
def test_random_schedules_catch_every_detectable_mutant(defect):
    assert catch(defect, SEED).property is not None


def test_a_hunt_does_not_catch_a_mutant_that_breaks_no_property():
    harmless = membership.isr_joined_unseen
    assert harmless.name in undetectable()
    everything = properties.set_of(properties.NAMES)
    assert Hunter(harmless.broken_protocol, Configuration(replicas=3), everything).first("swarm", SEED, 5_000) is None


def test_a_hunt_finds_the_first_schedule_that_breaks_a_property_in_the_interpreter():
    settings = hunting.settings_for(HUNTED)
    number, schedule = hunting.hunter(HUNTED).first("swarm", SEED, 10_000)
    deck = generate.deck_for(KAFKA, settings)

    def breaks(events):
        return hunting.broken(HUNTED.broken_protocol, settings, events) & judged(HUNTED, settings) != 0

    assert [breaks(generate.schedule(SEED, i, deck)) for i in range(number + 1)] == [False] * number + [True]
    assert breaks(schedule)
    assert not breaks(schedule[:-1])


def shown(protocol, schedules):
    """Interpret schedules. Returns the total of applied events, of each broken property and of each met goal."""
    applied, broken, met = 0, [0] * len(properties.NAMES), [0] * len(Goal)
    for schedule in schedules:
        execution, found = Execution(protocol, EVERY_FAULT), 0
        for event in schedule:
            if execution.apply(event):
                applied += 1
                found |= execution.broken()
        found |= execution.broken_at_end()
        broken = [count + (found >> bit & 1) for bit, count in enumerate(broken)]
        met = [count + (execution.state.goals >> bit & 1) for bit, count in enumerate(met)]
    return applied, broken, met


def test_compiled_and_interpreted_mutants_give_equal_results():
    protocols = [defect.broken_protocol for defect in DEFECTS]
    walker = Walker(protocols, EVERY_FAULT, SEED)
    tally = walker.walk(0, 20)
    for index, protocol in enumerate(protocols):
        schedules = [walker.schedule(number, protocol) for number in range(20)]
        compiled = tally.events[index], tally.seen[index].tolist(), tally.goals[index].tolist()
        assert compiled == shown(protocol, schedules)


def test_a_hunt_stops_at_its_limit_of_schedules():
    subject = hunting.hunter(HUNTED)
    number, _ = subject.first("swarm", SEED, 10_000)
    assert subject.first("swarm", SEED, number) is None
    assert subject.first("swarm", SEED, number + 1)[0] == number


@pytest.mark.parametrize("strategy", ["uniform", "swarm", "guided"])
def test_a_seed_determines_the_schedules_of_a_strategy(strategy):
    subject = hunting.hunter(HUNTED)
    assert subject.first(strategy, 1, 100_000) == subject.first(strategy, 1, 100_000)
    assert subject.first(strategy, 1, 100_000) != subject.first(strategy, 2, 100_000)


def test_a_mutant_of_the_checks_that_misses_no_violation_is_not_caught():
    judging = next(defect for defect in DEFECTS if defect.in_judging)
    assert hunting.first_not_seen(judging, Configuration(records=1, epochs=0), SEED, 20) is None


def test_selftest_lists_every_detectable_mutant_as_json(capsys):
    assert command.selftest(seed=SEED, json=True) == 0
    out = capsys.readouterr().out
    check_json(["selftest", "--json"], out)
    document = json.loads(out)
    assert document["caught"]
    assert [each["name"] for each in document["defects"]] == [defect.name for defect in detectable()]
    first = document["defects"][0]
    assert (first["module"], first["rules"]) == (
        "model/kafka/partition/high_watermark.py", ["model/kafka/partition/high_watermark.py: lowest_leo_in_isr"],
    )  # fmt: skip
