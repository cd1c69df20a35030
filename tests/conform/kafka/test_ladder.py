"""The release matrix chooses adapters and protocols, reports missing programs, and compares verdicts."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.protocol.subject import CheckedSubject, CommandSubject
from epochfuzz.harness.conform.run.rerun import Rerun, rerun
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.mechanisms import IsrChange
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol
from tests.conform.kafka import build, ladder
from tests.conform.kafka.differences import DIFFERENCES, OTHER_VERDICTS, Difference, reason
from tests.conform.kafka.ladder import CORPUS, ROOT, Verdict
from tests.conform.kafka.releases import RELEASES, ReleaseError, adapter
from tests.conform.kafka.rungs import RUNGS, Rung, rungs_of
from tests.conform.reference import Reference
from tests.systems.jvm.build import missing

CASES = {case.id: case for case in load_corpus(CORPUS)}
M1_LOSS = CASES["m1-loss"]
KAFKA_13091 = CASES["kafka-13091-high-watermark-left-behind"]


def rerun_as(protocol: str, model: str) -> Rerun:
    class Release(Reference):
        def reset(self, config: dict[str, Any], named: str) -> list[str] | None:
            return super().reset(config, protocol)

    return rerun(CheckedSubject(Release()), M1_LOSS, parse_protocol(model))


def test_every_release_has_an_adapter_with_existing_sources() -> None:
    for release in {*RELEASES, *(rung.release for rung in RUNGS)}:
        assert "KafkaBroker.java" in {source.name for source in build.sources(adapter(release))}


def test_an_adapter_uses_the_newest_version_of_each_file_that_is_not_newer_than_the_release() -> None:
    folders = {source.name: source.parts[-3] for source in build.sources(adapter("2.6.1"))}
    assert folders["KafkaBroker.java"] == "since-2.5"
    assert folders["ZooKeeper.java"] == "since-1.1"
    assert folders["FakeTimer.java"] == "since-0.10.2"
    assert "Exits.java" not in folders  # an empty file stands for a removed one


@pytest.mark.parametrize("release", ["2.8", "2.8.2", "2.8.1-mine"])
def test_an_unlisted_release_uses_the_adapter_of_its_first_two_numbers(release: str) -> None:
    assert adapter(release) is adapter("2.8.1")


@pytest.mark.parametrize("release", ["0.9.0", "2.4.1", "5.0.0", "latest"])
def test_a_release_without_an_adapter_is_an_error(release: str) -> None:
    with pytest.raises(ReleaseError):
        adapter(release)


def test_the_release_matrix_rejects_a_release_without_a_row() -> None:
    assert [rung.name for rung in rungs_of(["2.6.1", "0.10.2.2"])] == ["0.10.2.2", "2.6.1"]
    assert rungs_of([]) == list(RUNGS)
    with pytest.raises(ReleaseError, match=r"there is no row for Kafka 2.6.9; the releases are 0\.10\.2\.2, "):
        rungs_of(["2.6.1", "2.6.9"])


def test_missing_programs_are_named_with_the_command_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert missing() == [
        "javac is missing: sudo apt-get install openjdk-17-jdk-headless",
        "mvn is missing: sudo apt-get install maven",
    ]


def test_the_release_matrix_exits_with_2_if_a_program_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ladder, "missing", lambda: ["mvn is missing: sudo apt-get install maven"])
    monkeypatch.setattr(sys, "argv", ["ladder"])
    assert ladder.main() == 2
    assert "sudo apt-get install maven" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kafka", "protocol", "right"),
    [("hw", "hw", True), ("kip-101", "kip-101", True), ("hw", "kip-101", False), ("kip-101", "hw", False)],
)
def test_a_verdict_is_expected_only_if_kafka_breaks_the_properties_of_the_model(
    kafka: str, protocol: str, right: bool
) -> None:
    assert Verdict("m1-loss", Rung("2.8.1", protocol), rerun_as(kafka, protocol)).is_as_it_should_be is right


def test_a_release_without_a_protocol_in_the_model_is_not_compared() -> None:
    verdict = Verdict("m1-loss", Rung("9.9.9", "kafka-9.9"), rerun_as("hw", "kip-320"))
    assert verdict.model is None
    assert verdict.is_as_it_should_be


def test_a_case_without_alter_partition_events_changes_the_isr_in_one_event() -> None:
    for rung in RUNGS:
        chosen = rung.protocol_for(M1_LOSS)
        assert chosen.choice("isr_change") is IsrChange.ATOMIC
        assert parse_protocol(chosen.name) == chosen


def test_a_case_with_alter_partition_events_replays_under_the_protocol_of_the_release() -> None:
    assert {rung.protocol_for(KAFKA_13091).name for rung in RUNGS} == {rung.protocol for rung in RUNGS}


def test_a_verdict_with_a_known_reason_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "reason", lambda rung, case, verdict: "because")
    assert Verdict("m1-loss", Rung("2.8.1", "kip-101"), rerun_as("hw", "kip-101")).is_as_it_should_be


def test_known_differences_name_existing_releases_and_cases() -> None:
    for difference in DIFFERENCES:
        assert set(difference.releases) <= {rung.name for rung in RUNGS}
        assert parse_schedule(difference.schedule)
    for other in OTHER_VERDICTS:
        assert set(other.releases) <= {rung.name for rung in RUNGS}
        assert other.case in CASES


def test_a_known_reason_covers_only_its_own_verdict() -> None:
    other = OTHER_VERDICTS[0]
    rung = next(rung for rung in RUNGS if rung.name in other.releases)
    assert reason(rung, other.case, other.verdict) == other.reason
    assert reason(rung, other.case, "no-committed-loss (after event 3)") is None
    assert reason(RUNGS[0], "m1-loss", "nothing") is None


@pytest.fixture(scope="module")
def oldest() -> Iterator[CommandSubject]:
    if missing():
        pytest.skip("no JDK or no Maven")
    with CommandSubject([sys.executable, "-m", "tests.conform.kafka", "0.10.2.2"], ladder.PATIENCE) as subject:
        yield subject


@pytest.mark.slow
def test_kafka_0_10_loses_an_acknowledged_record(oldest: CommandSubject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    found = rerun(oldest, M1_LOSS, parse_protocol("hw"))
    assert found.subject.broken[:2] == ["no-committed-loss", "no-acked-loss"]


def subject_of(rung: Rung) -> CommandSubject:
    if missing():
        pytest.skip("no JDK or no Maven")
    return CommandSubject([sys.executable, "-m", "tests.conform.kafka", *rung.words], ladder.PATIENCE)


def protocol_of(rung: Rung, difference: Difference) -> Protocol:
    """Return the release's protocol. Without AlterPartition events in the schedule, an ISR change is one event."""
    case = replace(M1_LOSS, events=parse_schedule(difference.schedule))
    return rung.protocol_for(case)


@pytest.mark.slow
@pytest.mark.parametrize(
    "difference",
    DIFFERENCES,
    ids=lambda each: f"{each.known.field}-{len(each.schedule)}-{each.schedule[-1]}-{each.releases[0]}",
)
def test_each_known_difference_occurs_on_its_releases(difference: Difference, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    events = parse_schedule(difference.schedule)
    replicas = 1 + max(map(replica_of, events))
    settings = replace(M1_LOSS.settings, replicas=replicas, epochs=14, records=15, **difference.config)
    for rung in (rung for rung in RUNGS if rung.name in difference.releases):
        case = replace(M1_LOSS, events=events, settings=settings)
        with subject_of(rung) as subject:
            differs = rerun(subject, case, protocol_of(rung, difference)).differs
        assert differs is not None, rung.name
        assert differs[0] == len(events), rung.name
        assert difference.known.covers(differs[1], events, protocol_of(rung, difference), case.settings), rung.name


@pytest.mark.slow
def test_a_second_exhaustive_run_on_kafka_plays_further_transitions(tmp_path: Path) -> None:
    for lack in missing():
        pytest.skip(lack)
    words = ("-m", "tests.conform.kafka.exhaustive", "2.6.1", "--for", "1s", "--jobs", "1", "--out", str(tmp_path))
    first, second = (
        subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert first.startswith("\n2.6.1\n")
    assert played(second) > played(first) > 0


def played(printed: str) -> int:
    return int(printed.partition(" 1 record and 2 epoch changes, ")[2].split()[0].replace(",", ""))
