"""The table of systems: its cells, and the messages about unexpected results and missing tools."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from epochfuzz.harness.cases.case import Case, OnSystem
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.protocol.subject import CheckedSubject
from epochfuzz.harness.conform.run.rerun import rerun
from tests.conform.reference import Reference
from tests.systems import __main__ as command
from tests.systems.matrix import Sight, evidence, fewest
from tests.systems.registry import SYSTEMS
from tests.systems.system import BuildError, System

HERE = System("model-1.0", "tests.conform.reference", "1.0", list, lambda: None, protocol="hw")
CASES = {case.id: case for case in load_corpus([command.CORPUS])}
M1_LOSS = CASES["m1-loss"]
UNCLEAN = CASES["unclean-election-loss"]


def sight(case: Case, expected: OnSystem | None = None) -> Sight:
    seen = replace(case, systems={} if expected is None else {HERE.name: expected})
    made = rerun(CheckedSubject(Reference()), seen, HERE.protocol_for(case))
    return Sight(HERE, seen, made, made)


def test_a_cell_of_the_table_is_the_shortest_case_that_breaks_the_property() -> None:
    shorter, longer = sight(CASES["kafka-1211-truncation-to-high-watermark"]), sight(M1_LOSS)
    found = fewest([longer, shorter, sight(UNCLEAN)])
    assert found["model-1.0", "no-committed-loss"] is shorter
    assert "model-1.0 breaks no-committed-loss in 9 events" in "\n".join(evidence([longer, shorter]))


def test_a_case_with_an_unexpected_result_on_a_system_is_a_complaint() -> None:
    assert sight(M1_LOSS).complaints == []
    assert sight(M1_LOSS, OnSystem(("no-committed-loss",))).complaints == []
    (complaint,) = sight(M1_LOSS, OnSystem(("log-matching",))).complaints
    assert "log-matching was expected to break" in complaint


def test_a_violation_that_occurs_only_once_in_two_replays_is_unstable() -> None:
    once = sight(M1_LOSS)
    (complaint,) = replace(once, again=replace(once.rerun, first_broken={})).complaints
    assert complaint.startswith("unstable: ")


def failing() -> None:
    raise BuildError("there is no such jar")


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (
            replace(HERE, missing=lambda: ["go is missing: sudo apt-get install golang-go"]),
            "sudo apt-get install golang",
        ),
        (replace(HERE, build=failing), "there is no such jar"),
    ],
)
def test_a_system_that_cannot_be_built_is_left_out_with_the_reason(system: System, said: str) -> None:
    out = Console(file=io.StringIO(), width=200)
    assert not command.is_there(system, out)
    printed = out.file.getvalue()  # type: ignore[attr-defined]
    assert printed.startswith("model-1.0 is left out: ")
    assert said in printed


def test_cases_name_only_registered_systems() -> None:
    known = {system.name for system in SYSTEMS}
    assert {name for case in CASES.values() for name in case.systems} <= known
