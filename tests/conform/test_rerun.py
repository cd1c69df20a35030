"""`epochfuzz replay --subject` replays cases on an adapter and compares the verdicts with the model."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.protocol.subject import CheckedSubject
from epochfuzz.harness.conform.run.rerun import rerun
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.reference import Reference
from tests.conform.running import HOSTILE, REFERENCE, ROOT, SUBJECT

CORPUS = ROOT / "corpus"
READ_WITHIN_AN_EVENT = "kafka-14704-high-watermark-before-the-cut"  # an observation after the event cannot show this
M1_LOSS = str(CORPUS / "documents" / "m1-loss.yaml")


def protocols_by_verdict(case: Case) -> list[str]:
    """Return the first protocol for each verdict on a case."""
    return list({tuple(case.expect[name].broken): name for name in reversed(case.protocols)}.values())


def test_the_model_as_an_adapter_has_the_verdicts_of_the_model_on_the_whole_corpus() -> None:
    subject = CheckedSubject(Reference())
    reruns = [
        rerun(subject, case, parse_protocol(name))
        for case in load_corpus([CORPUS])
        for name in protocols_by_verdict(case)
    ]
    assert any(each.model.broken for each in reruns)
    assert [each.case.id for each in reruns if each.differs] == []
    assert {each.case.id for each in reruns if not each.agrees} == {READ_WITHIN_AN_EVENT}


def test_an_adapter_of_another_protocol_has_the_verdict_of_its_own_protocol() -> None:
    class Older(Reference):
        def reset(self, config: dict[str, Any], protocol: str) -> list[str] | None:
            return super().reset(config, "hw")

    (case,) = load_corpus([Path(M1_LOSS)])
    found = rerun(CheckedSubject(Older()), case, parse_protocol("kip-101"))
    assert found.model.broken == []
    assert found.subject.broken[0] == "no-committed-loss"
    assert found.differs is not None
    assert not found.agrees


def test_replay_prints_both_verdicts_and_exits_with_0_if_they_agree(epochfuzz: Any) -> None:
    ended = epochfuzz("replay", M1_LOSS, "-p", "hw", "--json", "--subject", shlex.join(SUBJECT))
    assert ended.code == 0
    (case,) = ended.json["cases"]
    assert (case["id"], case["protocol"], case["agrees"], case["differs"]) == ("m1-loss", "hw", True, None)
    assert case["subject"] == case["model"]
    assert "no-committed-loss" in case["subject"]["broken"]


def test_replay_exits_with_1_and_shows_the_first_difference_if_the_verdicts_differ(epochfuzz: Any) -> None:
    defective = shlex.join((*SUBJECT, "--defect", "recovery-drops-the-last-batch"))
    ended = epochfuzz("replay", M1_LOSS, "-p", "kip-101", "--subject", defective)
    assert ended.code == 1
    assert "m1-loss under kip-101, after event " in ended.out


def test_replay_exits_with_1_if_the_adapter_dies(epochfuzz: Any) -> None:
    normal = str(CORPUS / "documents" / "normal-replication.yaml")
    ended = epochfuzz("replay", normal, "-p", "hw", "--subject", shlex.join((*HOSTILE, "exit_with_words", "reset")))
    assert ended.code == 1
    said = "your adapter exited before it answered the first request, with status 7"
    assert said in " ".join(ended.out.split())


def test_replay_on_an_adapter_names_invalid_case_files_and_exits_with_2(epochfuzz: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("schema: 1\n", encoding="utf-8")
    ended = epochfuzz("replay", M1_LOSS, str(tmp_path), "-p", "hw", "--subject", shlex.join(SUBJECT))
    assert ended.code == 2
    assert "broken.yaml" in ended.err
    assert "m1-loss" in ended.out


def test_replay_exits_with_4_and_names_a_case_with_unsupported_events(epochfuzz: Any) -> None:
    ended = epochfuzz("replay", M1_LOSS, "-p", "hw", "--subject", shlex.join((*HOSTILE, "answer_twice", "event")))
    assert ended.code == 4
    assert "m1-loss was not replayed under hw: the system under test cannot run it: it has no crash" in ended.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--subject", "no-such-command"), "--subject: cannot run 'no-such-command'"),
        (("--trace", "--subject", shlex.join(REFERENCE)), "--subject can't be combined with"),
    ],
)
def test_replay_rejects_invalid_subject_options_with_exit_code_2(
    epochfuzz: Any, words: tuple[str, ...], complaint: str
) -> None:
    ended = epochfuzz("replay", M1_LOSS, *words)
    assert ended.code == 2
    assert complaint in ended.err
