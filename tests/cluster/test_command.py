"""`epochfuzz cluster run`: exit codes, JSON, links to play, and messages for invalid input."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")

from epochfuzz.harness.cluster import runs
from epochfuzz.harness.cluster.broker import installation, tools
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.runs import Played
from epochfuzz.harness.cluster.timeline import ScenarioRun, ScenarioVerdict
from epochfuzz.harness.documents.cluster_records import Loss
from epochfuzz.harness.links.play_link import VARIABLE
from tests.views.opening import SITE, breaks, links, opened

LOST = ScenarioRun(
    verdict=ScenarioVerdict.LOST, seconds=28.0, acknowledged=7, lost=[Loss("m", 0, 4, "z", was_read=True)]
)
KEPT = ScenarioRun(verdict=ScenarioVerdict.KEPT, seconds=28.0, acknowledged=8)
NOT_REACHED = ScenarioRun(why="not reached within 20 s: C leads")


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch, no_kafka: Installation) -> Callable[..., None]:
    """Return a function that sets the results of the next runs."""

    def set_up(*ended: ScenarioRun) -> None:
        monkeypatch.setattr(
            runs, "play", lambda request, kafka, number, say, templates: Played(ended[number - 1], None)
        )
        monkeypatch.setattr(installation, "from_maven", lambda release: no_kafka)
        monkeypatch.setattr(installation, "from_home", lambda home: no_kafka)

    return set_up


def test_cluster_run_exits_with_0_only_if_every_run_of_a_release_loses_the_record(plays: Any, epochfuzz: Any) -> None:
    plays(LOST, LOST)
    ended = epochfuzz("cluster", "run", "re-elected-leader", "--runs", 2)
    assert ended.code == 0
    assert "2 runs: 2 lost" in ended.out
    plays(LOST, KEPT)
    assert epochfuzz("cluster", "run", "re-elected-leader", "--runs", 2).code == 1


@pytest.mark.parametrize("words", [("--repair", "every-epoch"), ("--control", "late")], ids=" ".join)
def test_cluster_run_of_a_repair_or_a_control_exits_with_0_only_if_the_record_is_kept(
    words: tuple[str, ...], plays: Any, epochfuzz: Any
) -> None:
    plays(KEPT)
    assert epochfuzz("cluster", "run", "re-elected-leader", *words).code == 0
    plays(LOST)
    assert epochfuzz("cluster", "run", "re-elected-leader", *words).code == 1


def test_cluster_run_exits_with_1_if_a_custom_kafka_build_loses_the_record(
    plays: Any, epochfuzz: Any, tmp_path: Path
) -> None:
    plays(LOST)
    assert epochfuzz("cluster", "run", "re-elected-leader", "--kafka-home", tmp_path).code == 1


def test_cluster_run_exits_with_4_if_a_run_does_not_reach_its_last_step(plays: Any, epochfuzz: Any) -> None:
    plays(NOT_REACHED)
    ended = epochfuzz("cluster", "run", "re-elected-leader")
    assert ended.code == 4
    assert "NOT REACHED: not reached within 20 s" in ended.out


def test_the_json_output_of_cluster_run_counts_verdicts_and_lists_every_run(plays: Any, epochfuzz: Any) -> None:
    plays(LOST, KEPT, NOT_REACHED)
    document = epochfuzz("cluster", "run", "re-elected-leader", "--runs", 3, "--json").json
    assert (document["scenario"], document["release"]) == ("re-elected-leader", "4.3.1")
    assert (document["lost"], document["kept"], document["not_reached"]) == (1, 1, 1)
    assert [run["verdict"] for run in document["runs"]] == ["LOST", "KEPT", "NOT REACHED"]
    assert document["runs"][0]["lost"][0]["value"] == "m"


def test_cluster_run_links_a_loss_to_its_step_in_the_model_of_the_release(
    plays: Any, epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, SITE)
    plays(KEPT, LOST)
    ended = epochfuzz("cluster", "run", "re-elected-leader-under-load", "--runs", 2, "--json")
    (link,) = links(ended.err)
    assert ended.json["play"] == link
    assert (opened(link).case, opened(link).step) == ("re-elected-leader", 14)
    assert breaks(opened(link), "kafka-4.3.1", "no-acked-loss")


@pytest.mark.parametrize("words", [("--repair", "every-epoch"), ("--control", "late"), ("--runs", 1)], ids=str)
def test_cluster_run_prints_no_link_if_the_release_itself_loses_nothing(
    words: tuple[str, ...], plays: Any, epochfuzz: Any
) -> None:
    plays(KEPT if "--runs" in words else LOST)
    ended = epochfuzz("cluster", "run", "re-elected-leader", *words, "--json")
    assert (links(ended.err), ended.json["play"]) == ([], None)


def refusal(epochfuzz: Any, *words: object) -> str:
    ended = epochfuzz("cluster", "run", *words)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    return str(ended.err)


def test_cluster_run_stops_with_a_clear_message_for_invalid_input(
    epochfuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_java: Callable[..., Path]
) -> None:
    assert "is not a directory" in refusal(epochfuzz, "re-elected-leader", "--kafka-home", tmp_path / "none")
    assert "has no Kafka, because" in refusal(epochfuzz, "re-elected-leader", "--kafka-home", tmp_path)
    assert "the release must have a name such as" in refusal(epochfuzz, "re-elected-leader", "--release", "trunk")
    assert "re-elected" in refusal(epochfuzz, "no-such-scenario")
    for words in (("--control", "late"), ("--election", "auto"), ("--end", "pause")):
        assert "needs --end term or --end kill" in refusal(epochfuzz, "re-elected-leader-under-load", *words)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "mvn is missing; run `sudo apt-get install maven`" in refusal(
        epochfuzz, "re-elected-leader", "--release", "9.9.9"
    )
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs" / "kafka_2.13-4.3.1.jar").touch()
    tools.java.cache_clear()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "java is missing" in refusal(epochfuzz, "re-elected-leader", "--kafka-home", tmp_path)


def test_cluster_run_does_not_overwrite_the_directory_of_an_earlier_run(
    epochfuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_kafka: Installation
) -> None:
    monkeypatch.setattr(installation, "from_maven", lambda release: no_kafka)
    (tmp_path / "run-1").mkdir()
    message = refusal(epochfuzz, "re-elected-leader", "--out", tmp_path)
    assert "run-1 already exists; name another directory, or remove it" in message
