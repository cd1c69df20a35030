"""The defects that can be detected, each caught by the default strategy.

To compile the rules with all their defects takes minutes; what a defect is, test_defects.py says without.
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
def test_random_schedules_catch_the_defect(defect):
    assert catch(defect, SEED).property is not None


def test_a_mistake_that_breaks_nothing_is_not_caught():
    harmless = membership.isr_joined_unseen
    assert harmless.name in undetectable()
    everything = properties.set_of(properties.NAMES)
    assert Hunter(harmless.broken_protocol, Configuration(replicas=3), everything).first("swarm", SEED, 5_000) is None


def test_the_first_schedule_that_a_hunt_finds_is_the_first_that_breaks_something_interpreted():
    settings = hunting.settings_for(HUNTED)
    number, schedule = hunting.hunter(HUNTED).first("swarm", SEED, 10_000)
    deck = generate.deck_for(KAFKA, settings)

    def breaks(events):
        return hunting.broken(HUNTED.broken_protocol, settings, events) & judged(HUNTED, settings) != 0

    assert [breaks(generate.schedule(SEED, i, deck)) for i in range(number + 1)] == [False] * number + [True]
    assert breaks(schedule)
    assert not breaks(schedule[:-1])


def shown(protocol, schedules):
    """Events applied, properties broken and goals met by schedules, interpreted: each summed over the schedules."""
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


def test_a_defect_is_the_same_compiled_and_interpreted():
    protocols = [defect.broken_protocol for defect in DEFECTS]
    walker = Walker(protocols, EVERY_FAULT, SEED)
    tally = walker.walk(0, 20)
    for index, protocol in enumerate(protocols):
        schedules = [walker.schedule(number, protocol) for number in range(20)]
        compiled = tally.events[index], tally.seen[index].tolist(), tally.goals[index].tolist()
        assert compiled == shown(protocol, schedules)


def test_a_hunt_gives_up_after_the_schedules_it_was_given():
    subject = hunting.hunter(HUNTED)
    number, _ = subject.first("swarm", SEED, 10_000)
    assert subject.first("swarm", SEED, number) is None
    assert subject.first("swarm", SEED, number + 1)[0] == number


@pytest.mark.parametrize("strategy", ["uniform", "swarm", "guided"])
def test_a_strategy_gives_the_same_schedules_for_the_same_seed_and_others_for_another(strategy):
    subject = hunting.hunter(HUNTED)
    assert subject.first(strategy, 1, 100_000) == subject.first(strategy, 1, 100_000)
    assert subject.first(strategy, 1, 100_000) != subject.first(strategy, 2, 100_000)


def test_a_judging_that_sees_everything_is_not_caught():
    judging = next(defect for defect in DEFECTS if defect.in_judging)
    assert hunting.first_not_seen(judging, Configuration(records=1, epochs=0), SEED, 20) is None


def test_selftest_names_every_catch(capsys):
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
