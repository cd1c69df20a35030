"""The blocks of a plan: their schedules, and their places in the run for the progress line."""

from dataclasses import replace

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.conform.run.block import BlockResult
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

KIP_320 = parse_protocol("kip-320")
CASES = [load_case("m1-loss"), load_case("not-leader-retry")]


PLAN = Plan(
    command=("adapter",),
    protocols=[KIP_320],
    settings=Configuration(),
    schedules=12,
    seed=1,
    cases=CASES,
    processes_for=5,
)


def progress(number: int, result: BlockResult, cases: int = 2) -> str:
    """Return the progress line of block `number` in a plan with 12 schedules, after the schedules of `result`."""
    return replace(PLAN, cases=CASES[:cases]).block_of(KIP_320, number).progress(result)


def names(plan: Plan) -> list[list[str | int | None]]:
    """Return the ids of the cases, or the numbers of the schedules, in each block of a plan."""
    blocks = (plan.block_of(KIP_320, number) for number in range(plan.blocks))
    return [[trial.case or trial.number for trial in block.trials] for block in blocks]


def test_the_first_block_of_a_plan_has_all_cases() -> None:
    ids = [case.id for case in CASES]
    assert names(replace(PLAN, processes_for=1, schedules=2)) == [ids, [0], [1]]


def test_the_cases_of_a_client_are_divided_into_blocks_like_its_schedules() -> None:
    plan = replace(PLAN, cases=[*CASES, load_case("response-lost")], processes_for=2, schedules=3, is_client=True)
    assert names(plan) == [["m1-loss", "not-leader-retry"], ["response-lost"], [0, 1], [2]]
    assert [plan.block_of(KIP_320, number).before for number in range(4)] == [0, 2, 3, 5]


def test_a_plan_for_a_client_without_cases_starts_with_the_schedules() -> None:
    assert names(replace(PLAN, cases=[], processes_for=2, schedules=3, is_client=True)) == [[0, 1], [2]]


def test_the_progress_line_counts_the_cases_and_the_schedules_of_earlier_blocks() -> None:
    assert progress(0, BlockResult(cases=1)) == "1 of 14 schedules and cases"
    assert progress(1, BlockResult(schedules=3)) == "5 of 14 schedules and cases"
    assert progress(3, BlockResult(schedules=2)) == "14 of 14 schedules and cases"


def test_the_progress_line_of_a_plan_without_cases_starts_with_the_schedules() -> None:
    assert progress(0, BlockResult(schedules=1), cases=0) == "1 of 12 schedules and cases"
    assert progress(2, BlockResult(schedules=1), cases=0) == "11 of 12 schedules and cases"


def test_the_progress_line_counts_a_case_that_tested_nothing() -> None:
    assert progress(0, BlockResult(cases=1, unable={"m1-loss": "it has no crash"})) == "2 of 14 schedules and cases"
