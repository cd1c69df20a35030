"""Selection of schedules: random schedules stay as they are, and chosen schedules detect a mutant in fewer steps."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from statistics import median

import pytest

from epochfuzz.harness.conform.oracle import met
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.oracle.lockstep import LockStep
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.selection import Selection, schedule, selection_for
from epochfuzz.harness.engine.walk import generate
from epochfuzz.harness.lab.bench.chosen import mistakes, played, steps_until_seen
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import REFUSALS, Refusal
from tests.conform.running import SUBJECT, WRONG, conform

KIP_320 = parse_protocol("kip-320")
SETTINGS = Configuration(replicas=3)


def chosen(number: int, seed: int = 1) -> bytes:
    return schedule(Selection.COVERAGE, KIP_320, SETTINGS, seed, number)


def test_random_schedules_are_equal_for_protocols_with_equal_registration() -> None:
    drawn = generate.schedule(5, 3, generate.deck_for(KAFKA, SETTINGS))
    for name in ("kip-320", "kafka-3.1"):
        assert schedule(Selection.RANDOM, parse_protocol(name), SETTINGS, 5, 3) == drawn
    in_kraft = [schedule(Selection.RANDOM, parse_protocol(name), SETTINGS, 5, 3) for name in ("kip-841", "kafka-4.1")]
    assert in_kraft[0] == in_kraft[1] != drawn


@pytest.mark.parametrize("selection", [Selection.COVERAGE, Selection.BUGS])
def test_a_plan_chooses_equal_schedules_with_any_size_of_blocks(selection: Selection) -> None:
    def trials(size: int) -> list[bytes]:
        plan = Plan(
            command=SUBJECT,
            protocols=[KIP_320],
            settings=SETTINGS,
            schedules=12,
            seed=1,
            processes_for=size,
            selection=selection,
        )
        again = Plan.from_document(plan.document())
        return [trial.events for block in reversed(range(again.blocks)) for trial in again.trials(KIP_320, block)]

    one_by_one = [schedule(selection, KIP_320, SETTINGS, 1, number) for number in range(12)]
    assert sorted(trials(5)) == sorted(trials(1)) == sorted(one_by_one)


def test_results_of_chosen_schedules_do_not_depend_on_the_number_of_jobs() -> None:
    one, two = (
        conform(SUBJECT, schedules=6, jobs=jobs, processes_for=2, selection=Selection.COVERAGE) for jobs in (1, 2)
    )
    assert one.shown == two.shown
    assert one.shown.steps == sum(
        len(schedule(Selection.COVERAGE, KIP_320, Configuration(), 1, number)) for number in range(6)
    )


def test_chosen_schedules_meet_more_kinds_of_transitions_than_random_schedules() -> None:
    def kinds(selection: Selection) -> int:
        counts, steps = met.Meeting().counts, 0
        for number in range(1_000):
            meeting = met.Meeting()
            for event, refusal, goals in played_in_model(schedule(selection, KIP_320, SETTINGS, 1, number)):
                meeting.note(event, refusal, goals)
                steps += 1
                if steps == 1_500:
                    return len(counts + meeting.counts)
            counts += meeting.counts
        raise AssertionError("a thousand schedules have fewer steps")

    assert kinds(Selection.COVERAGE) > kinds(Selection.RANDOM)


def played_in_model(events: bytes) -> Iterator[tuple[int, Refusal, int]]:
    """Yield each event that is sent, its refusal, and the goals that the model has met."""
    model, execution = LockStep(KIP_320, SETTINGS), Execution(KIP_320, SETTINGS)
    for event in events:
        if model.advance(event):
            yield event, REFUSALS[execution.attempt(event)], int(execution.state.goals)


def test_chosen_schedules_detect_a_mutant_and_pass_the_unchanged_model() -> None:
    mutant = next(each for each in mistakes() if each.name == "truncates-at-leader-change-only")
    steps = steps_until_seen(mutant, Selection.COVERAGE, 0, most=20_000)
    assert steps is not None
    assert steps > 1
    assert not any(played(replace(mutant, number=0), chosen(0)))  # number 0 is the unchanged model


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_a_hundred_chosen_schedules_detect_truncation_to_the_high_watermark(seed: int) -> None:
    run = partial(conform, (*WRONG, "cuts"), schedules=100, seed=seed, judged_by=JudgedBy.PROMISES)
    found = {each.sighting.fault.field for each in run(selection=selection_for(JudgedBy.PROMISES)).nonconformities}
    assert {"no-committed-loss", "no-divergence"} <= found


@pytest.mark.slow
def test_chosen_schedules_detect_a_mutant_that_needs_three_replicas_in_fewer_steps() -> None:
    """The row of the table in docs/explain/coverage.md with the largest difference."""
    mutant = next(each for each in mistakes() if each.name == "followers-remembered-across-epochs")
    random, coverage = (
        median(steps_until_seen(mutant, selection, seed) or 500_000 for seed in range(20))
        for selection in (Selection.RANDOM, Selection.COVERAGE)
    )
    assert coverage < random
