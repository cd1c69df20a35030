"""A block of a plan knows its place in the run, for the progress line."""

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.conform.run.block import BlockResult
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

KIP_320 = parse_protocol("kip-320")
CASES = [load_case("m1-loss"), load_case("not-leader-retry")]


def progress(number: int, result: BlockResult, cases: int = 2) -> str:
    """Return the progress line of block `number` in a plan with 12 schedules, after the schedules of `result`."""
    plan = Plan(("adapter",), [KIP_320], Configuration(), 12, seed=1, cases=CASES[:cases], processes_for=5)
    return plan.block_of(KIP_320, number).progress(result)


def test_the_progress_line_counts_the_cases_and_the_schedules_of_earlier_blocks() -> None:
    assert progress(0, BlockResult(cases=1)) == "1 of 14 schedules and cases"
    assert progress(1, BlockResult(schedules=3)) == "5 of 14 schedules and cases"
    assert progress(3, BlockResult(schedules=2)) == "14 of 14 schedules and cases"


def test_the_progress_line_of_a_plan_without_cases_starts_with_the_schedules() -> None:
    assert progress(0, BlockResult(schedules=1), cases=0) == "1 of 12 schedules and cases"
    assert progress(2, BlockResult(schedules=1), cases=0) == "11 of 12 schedules and cases"


def test_the_progress_line_counts_a_case_that_tested_nothing() -> None:
    assert progress(0, BlockResult(cases=1, unable={"m1-loss": "it has no crash"})) == "2 of 14 schedules and cases"
