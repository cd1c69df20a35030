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
def test_a_case_replays_as_expected(case: Case, protocol: str) -> None:
    judged = judge(case, [protocol])
    verdict = judged.verdicts[protocol]
    assert judged.as_expected, "\n".join([f"{case.path} under {protocol}:", *verdict.mismatches, verdict.drift or ""])


@each_case
def test_rewriting_a_case_of_the_corpus_changes_nothing(case: Case) -> None:
    assert rewritten(case) == case


@each_case
def test_a_case_has_an_expectation_for_every_protocol_that_it_names(case: Case) -> None:
    assert case.protocols
    assert set(case.protocols) == set(case.expect)


@each_case
def test_a_case_file_has_the_layout_that_epochfuzz_writes(case: Case) -> None:
    assert case.path is not None
    assert case.path.read_text(encoding="utf-8") == dump_case(case)
    assert case.path.stem == case.id
