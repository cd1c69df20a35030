"""`epochfuzz conform --exhaustive` plays every transition within bounds, on correct and on wrong adapters."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.conform.exhaustive.counts import Toured
from epochfuzz.harness.conform.exhaustive.tour_block import TourResult
from epochfuzz.harness.conform.protocol.process import LineProcess
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.documents.records import Played
from epochfuzz.harness.views import transitions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.running import REFERENCE, SUBJECT, WRONG

SMALL = ("--exhaustive", "--epochs", "1")
N = 2_700


def exhaust(epochfuzz: Any, *words: str, subject: tuple[str, ...] = REFERENCE) -> Any:
    return epochfuzz("conform", *SMALL, *words, "--json", "--", *subject)


@pytest.mark.thorough
def test_exhaustive_conform_plays_all_transitions_of_a_conforming_adapter_and_saves_nothing(epochfuzz: Any) -> None:
    ended = exhaust(epochfuzz)
    assert ended.code == 0
    assert (
        f"The system under test conforms to kip-320 on all {N:,} transitions reachable with 2 replicas, 1 record and"
        " 1 epoch change, each by one path to its state, checked by lock-step:"
    ) in ended.err
    assert ended.json["transitions"] == {
        "replicas": 2,
        "records": 1,
        "epochs": 1,
        "reachable": N,
        "played": N,
        "differing": 0,
        "behind": 0,
        "refused": None,
        "complete": True,
    }
    assert not list(Path("conform-cases").glob("*"))
    assert "--replicas 2 --records 1 --epochs 1 --exhaustive -- " in ended.json["reproduce"]


def test_the_summary_of_a_complete_exhaustive_run_counts_the_differing_transitions() -> None:
    bounds = Configuration(replicas=2, records=1, epochs=0)
    plan = Plan(command=REFERENCE, protocols=[parse_protocol("kip-320")], settings=bounds, schedules=0, seed=0)
    played = Conformance(toured=Toured(Played(256, 256, differing=2, behind=0), None, 0, is_complete=True))
    assert next(transitions.summary(played, plan, None)) == (
        "The system under test conforms to kip-320 on all 256 transitions reachable with 2 replicas, 1 record and"
        " 0 epoch changes, except 2 that differ, each by one path to its state, checked by lock-step:"
    )


def test_exhaustive_conform_has_small_default_bounds(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", "--exhaustive", "--for", "1s", "--json", "--", *REFERENCE)
    bounds = {name: ended.json["transitions"][name] for name in ("replicas", "records", "epochs", "reachable")}
    assert bounds == {"replicas": 2, "records": 1, "epochs": 2, "reachable": 15_940}


@pytest.mark.thorough
def test_conform_shrinks_a_difference_and_plays_the_other_transitions(epochfuzz: Any) -> None:
    ended = exhaust(epochfuzz, subject=(*SUBJECT, "--defect", "shrinking-does-not-advance"))
    assert ended.code == 1
    (finding,) = ended.json["findings"]
    assert finding["events"] == ["produce A", "shrink B"]
    found = ended.json["transitions"]
    assert found["complete"]
    assert found["differing"] > 0
    assert found["behind"] > 0
    assert found["played"] + found["behind"] == found["reachable"] == N
    assert "lie only behind differing ones, and were not played" in ended.err
    assert "after event 2, shrink B; tour " in ended.err


@pytest.mark.thorough
def test_findings_of_an_exhaustive_run_do_not_depend_on_the_number_of_jobs(epochfuzz: Any) -> None:
    defect = (*SUBJECT, "--defect", "shrinking-does-not-advance")
    words = ("--epochs", "0", "--processes-for", "40", "--certify", "0")
    one, two = (exhaust(epochfuzz, *words, "--jobs", jobs, subject=defect).json for jobs in ("1", "2"))
    for document in (one, two):
        del document["seconds"], document["steps_per_second"]
    assert one == two


@pytest.mark.thorough
def test_option_refused_sends_each_event_that_is_not_enabled_once_per_state(epochfuzz: Any) -> None:
    ended = exhaust(epochfuzz, "--refused")
    refused = ended.json["transitions"]["refused"]
    assert refused["played"] == refused["reachable"] > N
    assert ended.json["steps"] > refused["played"] + N


@pytest.mark.thorough
def test_option_refused_detects_an_adapter_that_applies_an_event_that_is_not_enabled(epochfuzz: Any) -> None:
    assert exhaust(epochfuzz, subject=(*WRONG, "permissive")).code == 0
    ended = exhaust(epochfuzz, "--refused", subject=(*WRONG, "permissive"))
    assert ended.code == 1
    (finding,) = ended.json["findings"]
    assert (finding["field"], finding["expected"], finding["observed"]) == ("applied", False, True)


@pytest.mark.thorough
def test_a_repeated_exhaustive_command_resumes_after_its_time_limit(epochfuzz: Any) -> None:
    played, tours = 0, 0
    for _ in range(2):
        ended = exhaust(epochfuzz, "--for", "0.1s")
        found = ended.json["transitions"]
        assert (ended.code, found["complete"]) == (0, False)
        assert played < found["played"] < N
        assert tours < ended.json["schedules"]
        played, tours = found["played"], ended.json["schedules"]
        (kept,) = Path("conform-cases").glob("exhaustive-*.json")
        assert f"The same command resumes from {kept}" in ended.err
        assert f"of {N:,} transitions reachable with 2 replicas, 1 record and 1 epoch change, {played:,}" in ended.err
    ended = exhaust(epochfuzz)
    assert (ended.json["transitions"]["played"], ended.json["transitions"]["complete"]) == (N, True)
    assert tours < ended.json["schedules"]
    assert not list(Path("conform-cases").glob("*"))


@pytest.mark.thorough
def test_exhaustive_conform_ignores_damaged_progress_and_progress_of_another_model(epochfuzz: Any) -> None:
    exhaust(epochfuzz, "--for", "0.1s")
    (kept,) = Path("conform-cases").glob("exhaustive-*.json")
    document = json.loads(kept.read_text())
    for text in (json.dumps(document | {"rules": "others", "tours": 10_000}), "{"):
        kept.write_text(text)
        assert exhaust(epochfuzz, "--for", "0.1s").json["schedules"] < 1_000


@pytest.mark.thorough
def test_a_resumed_exhaustive_run_reports_an_earlier_difference_again(epochfuzz: Any) -> None:
    defect = (*SUBJECT, "--defect", "shrinking-does-not-advance")
    for _ in range(2):
        (finding,) = exhaust(epochfuzz, "--for", "3s", subject=defect).json["findings"]
        assert finding["events"] == ["produce A", "shrink B"]


def interrupt_after(sequences: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise KeyboardInterrupt after this number of test sequences."""
    add, left = TourResult.add, sequences

    def interrupted(*arguments: Any) -> None:
        nonlocal left
        add(*arguments)
        left -= 1
        if left == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(TourResult, "add", interrupted)


@pytest.mark.thorough
@pytest.mark.parametrize("sequences", [5, 12, 30])
def test_an_exhaustive_run_after_ctrl_c_plays_the_sequences_of_an_uninterrupted_run(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch, sequences: int
) -> None:
    defective = (*SUBJECT, "--defect", "shrinking-does-not-advance")
    words = ("--epochs", "0", "--processes-for", "12", "--certify", "0")
    whole = exhaust(epochfuzz, *words, subject=defective).json
    with monkeypatch.context() as patched:
        interrupt_after(sequences, patched)
        assert exhaust(epochfuzz, *words, subject=defective).code == 130
    resumed = exhaust(epochfuzz, *words, subject=defective).json
    measured = {"seconds": 0, "steps_per_second": 0}
    assert resumed | measured == whole | measured


@pytest.mark.thorough
def test_an_exhaustive_run_keeps_its_progress_until_its_differences_are_shrunk(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    defective = (*SUBJECT, "--defect", "shrinking-does-not-advance")
    words = ("--epochs", "0", "--certify", "0")
    with monkeypatch.context() as patched:
        patched.setattr("epochfuzz.harness.conform.run.workers.conformance_finding", interrupted)
        assert exhaust(epochfuzz, *words, subject=defective).code == 130
    (kept,) = Path("conform-cases").glob("exhaustive-*.json")
    steps = json.loads(kept.read_text())["before"]["steps"]
    assert exhaust(epochfuzz, *words, subject=defective).json["steps"] == steps
    assert not kept.exists()


@pytest.mark.thorough
def test_exhaustive_conform_counts_transitions_with_unsupported_events_as_not_played(epochfuzz: Any) -> None:
    ended = exhaust(epochfuzz, subject=(*WRONG, "few"))
    assert ended.code == 0
    reachable = ended.json["transitions"]["reachable"]
    assert 0 < reachable < 20
    assert f"Not played: {N - reachable:,} transitions that need events that the adapter does not support" in ended.err


@pytest.mark.thorough
def test_exhaustive_conform_reports_a_changed_second_response_as_unstable(epochfuzz: Any) -> None:
    ended = exhaust(epochfuzz, subject=(*WRONG, "unstable"))
    assert ended.code == 1
    (finding,) = ended.json["findings"]
    assert finding["kind"] == "unstable"
    assert finding["expected"].startswith("replicas.A.hw is")


@pytest.mark.thorough
def test_exhaustive_conform_gives_up_after_repeated_crashes_of_the_adapter(epochfuzz: Any) -> None:
    ended = exhaust(epochfuzz, subject=(*WRONG, "dies"))
    assert ended.code == 1
    assert ended.json["given_up"]
    assert ended.json["findings"][0]["events"] == ["crash A", "crash B"]
    assert "Not all tours were played: too few replies could be checked." in ended.err


def test_exhaustive_conform_checks_guarantees_with_judge_promises(epochfuzz: Any) -> None:
    ended = exhaust(epochfuzz, "--judge", "promises", "--for", "2s")
    assert ended.code == 0
    assert "no-committed-loss" in ended.json["judged"]
    assert "checked by promises" in ended.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--exhaustive", "--seed", "1"), "--seed can't be combined with --exhaustive"),
        (("--exhaustive", "--protocol", "hw", "--protocol", "kip-101"), "--exhaustive needs exactly one --protocol"),
        (("--refused",), "--refused needs --exhaustive"),
        (("--for", "1m"), "--for needs --exhaustive"),
        (("--exhaustive", "--for", "soon"), "--for: a duration is"),
    ],
)
def test_exhaustive_conform_rejects_invalid_options_with_exit_code_2(
    epochfuzz: Any, words: tuple[str, ...], complaint: str
) -> None:
    ended = epochfuzz("conform", *words, "--", *REFERENCE)
    assert ended.code == 2
    assert complaint in ended.err


@pytest.mark.thorough
def test_exhaustive_conform_stops_with_an_error_if_out_is_a_file(epochfuzz: Any) -> None:
    Path("taken").touch()
    ended = exhaust(epochfuzz, "--out", "taken")
    assert ended.code == 2
    assert "--out: taken" in ended.err


def test_a_line_process_returns_all_replies_to_more_requests_than_a_pipe_holds() -> None:
    echo = "import sys\nfor line in sys.stdin: print(line.strip() * 3, flush=True)"
    process = LineProcess([sys.executable, "-c", echo])
    lines = [bytes([65 + number % 26]) * 10_000 + b"\n" for number in range(300)]
    for line, reply in zip(lines, process.ask_each(lines, 20.0), strict=True):
        assert reply == line.strip() * 3
    process.close()
