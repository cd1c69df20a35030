"""The corpus, replayed: one test for each case and protocol."""

from pathlib import Path

import pytest

from epochfuzz.harness.cases.case import Case, dump_case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cases.verdict import judge, rewritten

CASES = load_corpus([Path(__file__).parents[2] / "corpus"])
each_case = pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])


@pytest.mark.parametrize(
    ("case", "protocol"),
    [pytest.param(case, protocol, id=f"{case.id}[{protocol}]") for case in CASES for protocol in case.protocols],
)
def test_a_case_goes_as_it_expects(case: Case, protocol: str) -> None:
    judged = judge(case, [protocol])
    verdict = judged.verdicts[protocol]
    assert judged.as_expected, "\n".join([f"{case.path} under {protocol}:", *verdict.mismatches, verdict.drift or ""])


@each_case
def test_a_case_names_everything_that_breaks_and_when(case: Case) -> None:
    assert rewritten(case) == case


@each_case
def test_a_case_expects_something_of_every_protocol_it_speaks_of(case: Case) -> None:
    assert case.protocols
    assert set(case.protocols) == set(case.expect)


@each_case
def test_a_case_is_laid_out_as_the_tool_writes_it(case: Case) -> None:
    assert case.path is not None
    assert case.path.read_text(encoding="utf-8") == dump_case(case)
    assert case.path.stem == case.id
