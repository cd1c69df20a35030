"""`epochfuzz conform --exhaustive`: every transition within bounds, on subjects that are right and wrong."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.conform.exhaustive.counts import Counts, Toured
from epochfuzz.harness.conform.protocol.process import LineProcess
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.views import transitions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.running import REFERENCE, SUBJECT, WRONG

SMALL = ("--exhaustive", "--epochs", "1")
N = 2_700


def exhaust(epochfuzz: Any, *words: str, subject: tuple[str, ...] = REFERENCE) -> Any:
    return epochfuzz("conform", *SMALL, *words, "--json", "--", *subject)


@pytest.mark.thorough
def test_a_subject_that_conforms_does_so_on_all_transitions_and_nothing_is_kept(epochfuzz: Any) -> None:
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


def test_where_all_were_played_those_that_are_known_to_differ_are_counted() -> None:
    bounds = Configuration(replicas=2, records=1, epochs=0)
    plan = Plan(REFERENCE, [parse_protocol("kip-320")], bounds, schedules=0, seed=0)
    played = Conformance(toured=Toured(Counts(256, 256, differing=2, behind=0), None, 0, is_complete=True))
    assert next(transitions.summary(played, plan, None)) == (
        "The system under test conforms to kip-320 on all 256 transitions reachable with 2 replicas, 1 record and"
        " 0 epoch changes, except 2 that differ, each by one path to its state, checked by lock-step:"
    )


def test_bounds_are_small_where_none_are_given(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", "--exhaustive", "--for", "1s", "--json", "--", *REFERENCE)
    bounds = {name: ended.json["transitions"][name] for name in ("replicas", "records", "epochs", "reachable")}
    assert bounds == {"replicas": 2, "records": 1, "epochs": 2, "reachable": 15_940}


@pytest.mark.thorough
def test_what_differs_is_shrunk_and_the_rest_is_played_around_it(epochfuzz: Any) -> None:
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
def test_findings_do_not_depend_on_the_number_of_jobs(epochfuzz: Any) -> None:
    defect = (*SUBJECT, "--defect", "shrinking-does-not-advance")
    words = ("--epochs", "0", "--processes-for", "40", "--certify", "0")
    one, two = (exhaust(epochfuzz, *words, "--jobs", jobs, subject=defect).json for jobs in ("1", "2"))
    for document in (one, two):
        del document["seconds"], document["steps_per_second"]
    assert one == two


@pytest.mark.thorough
def test_events_that_are_refused_are_sent_once_in_each_state(epochfuzz: Any) -> None:
    ended = exhaust(epochfuzz, "--refused")
    refused = ended.json["transitions"]["refused"]
    assert refused["played"] == refused["reachable"] > N
    assert ended.json["steps"] > refused["played"] + N


@pytest.mark.thorough
def test_an_event_that_is_refused_only_by_the_model_is_found_only_if_it_is_sent(epochfuzz: Any) -> None:
    assert exhaust(epochfuzz, subject=(*WRONG, "permissive")).code == 0
    ended = exhaust(epochfuzz, "--refused", subject=(*WRONG, "permissive"))
    assert ended.code == 1
    (finding,) = ended.json["findings"]
    assert (finding["field"], finding["expected"], finding["observed"]) == ("applied", False, True)


@pytest.mark.thorough
def test_part_of_it_is_played_and_the_same_command_goes_on_from_there(epochfuzz: Any) -> None:
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
def test_what_was_kept_of_another_model_or_cut_short_is_not_gone_on_with(epochfuzz: Any) -> None:
    exhaust(epochfuzz, "--for", "0.1s")
    (kept,) = Path("conform-cases").glob("exhaustive-*.json")
    document = json.loads(kept.read_text())
    for text in (json.dumps(document | {"rules": "others", "tours": 10_000}), "{"):
        kept.write_text(text)
        assert exhaust(epochfuzz, "--for", "0.1s").json["schedules"] < 1_000


@pytest.mark.thorough
def test_a_difference_is_told_again_by_the_run_that_goes_on(epochfuzz: Any) -> None:
    defect = (*SUBJECT, "--defect", "shrinking-does-not-advance")
    for _ in range(2):
        (finding,) = exhaust(epochfuzz, "--for", "3s", subject=defect).json["findings"]
        assert finding["events"] == ["produce A", "shrink B"]


@pytest.mark.thorough
def test_events_that_a_subject_lacks_are_left_out_and_counted(epochfuzz: Any) -> None:
    ended = exhaust(epochfuzz, subject=(*WRONG, "few"))
    assert ended.code == 0
    reachable = ended.json["transitions"]["reachable"]
    assert 0 < reachable < 20
    assert f"Not played: {N - reachable:,} transitions that need events that the adapter does not support" in ended.err


@pytest.mark.thorough
def test_another_answer_the_second_time_is_no_difference(epochfuzz: Any) -> None:
    ended = exhaust(epochfuzz, subject=(*WRONG, "unstable"))
    assert ended.code == 1
    (finding,) = ended.json["findings"]
    assert finding["kind"] == "unstable"
    assert finding["expected"].startswith("replicas.A.hw is")


@pytest.mark.thorough
def test_a_subject_that_dies_time_and_again_is_given_up(epochfuzz: Any) -> None:
    ended = exhaust(epochfuzz, subject=(*WRONG, "dies"))
    assert ended.code == 1
    assert ended.json["given_up"]
    assert ended.json["findings"][0]["events"] == ["crash A", "crash B"]
    assert "Not all tours were played: too few replies could be checked." in ended.err


def test_promises_are_judged_along_the_tours(epochfuzz: Any) -> None:
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
def test_what_cannot_be_used_ends_with_2(epochfuzz: Any, words: tuple[str, ...], complaint: str) -> None:
    ended = epochfuzz("conform", *words, "--", *REFERENCE)
    assert ended.code == 2
    assert complaint in ended.err


@pytest.mark.thorough
def test_where_nothing_can_be_kept_that_is_an_error(epochfuzz: Any) -> None:
    Path("taken").touch()
    ended = exhaust(epochfuzz, "--out", "taken")
    assert ended.code == 2
    assert "--out: taken" in ended.err


def test_many_lines_sent_at_once_are_answered_though_no_pipe_has_room_for_them() -> None:
    echo = "import sys\nfor line in sys.stdin: print(line.strip() * 3, flush=True)"
    process = LineProcess([sys.executable, "-c", echo])
    lines = [bytes([65 + number % 26]) * 10_000 + b"\n" for number in range(300)]
    for line, reply in zip(lines, process.ask_each(lines, 20.0), strict=True):
        assert reply == line.strip() * 3
    process.close()
