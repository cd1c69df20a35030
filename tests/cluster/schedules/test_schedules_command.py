"""`epochfuzz cluster replay` and `cluster fuzz`: exit codes, JSON, links to play, and messages for invalid input."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")

from epochfuzz.harness.cluster.broker import installation
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.schedules import fuzz
from epochfuzz.harness.cluster.schedules.player import Player
from epochfuzz.harness.documents.cluster_records import Ended, Playing
from epochfuzz.harness.links.play_link import VARIABLE
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from tests.views.opening import SITE, breaks, links, opened

M1, LOSES = "corpus/documents/m1-loss.yaml", "corpus/history/re-elected-leader.yaml"
POWER = "corpus/history/kafka-3919-power-outage.yaml"


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch, no_kafka: Installation) -> Callable[..., None]:
    """Return a function that sets the ends of the next schedules; the last end repeats."""

    def set_up(*ended: Ended, why: str = "") -> None:
        ends = list(ended)

        def play(self: Player, settings: object, schedule: Sequence[str], say: object = None) -> Playing:
            return Playing(ended=ends.pop(0) if len(ends) > 1 else ends[0], why=why)

        monkeypatch.setattr(Player, "play", play)
        monkeypatch.setattr(installation, "from_maven", lambda release: no_kafka)
        monkeypatch.setattr(installation, "from_home", lambda home: Installation("4.3.1-mine", ("kafka.jar",)))

    return set_up


def test_cluster_replay_exits_with_0_only_if_each_case_ends_as_in_the_model(plays: Any, epochfuzz: Any) -> None:
    plays(Ended.KEPT, Ended.LOST)
    assert epochfuzz("cluster", "replay", M1, LOSES).code == 0
    plays(Ended.LOST)
    assert epochfuzz("cluster", "replay", M1).code == 1


def test_cluster_replay_exits_with_4_if_the_cluster_does_not_do_a_step(plays: Any, epochfuzz: Any) -> None:
    plays(Ended.NOT_REACHED, why="the cluster did not do `elect B` at step 15")
    ended = epochfuzz("cluster", "replay", M1)
    assert ended.code == 4
    assert "NOT REACHED: the cluster did not do `elect B` at step 15" in ended.out


def test_cluster_replay_links_each_case_to_its_step_in_the_model(
    plays: Any, epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, SITE)
    plays(Ended.KEPT, Ended.LOST)
    ended = epochfuzz("cluster", "replay", M1, LOSES, "--json")
    assert links(ended.err) == [each["play"] for each in ended.json["cases"]]
    kept, lost = map(opened, links(ended.err))
    assert (kept.case, kept.step) == ("m1-loss", 0)
    assert (lost.case, lost.step, lost.settings.changed()) == (
        "re-elected-leader",
        14,
        {"replicas": 3, "records": 1, "epochs": 4},
    )
    assert breaks(lost, "kafka-4.3.1", "no-acked-loss")


def test_cluster_replay_of_an_unknown_build_links_a_case_to_its_start(
    plays: Any, epochfuzz: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, SITE)
    plays(Ended.LOST)
    (link,) = links(epochfuzz("cluster", "replay", LOSES, "--kafka-home", tmp_path).out)
    assert links(epochfuzz("replay", LOSES).out) == [link]


def test_cluster_replay_expects_an_unknown_build_to_keep_every_record(
    plays: Any, epochfuzz: Any, tmp_path: Path
) -> None:
    plays(Ended.KEPT)
    assert epochfuzz("cluster", "replay", LOSES, "--kafka-home", tmp_path).code == 0
    plays(Ended.LOST)
    assert epochfuzz("cluster", "replay", LOSES, "--kafka-home", tmp_path).code == 1


def test_the_json_output_of_cluster_replay_lists_replayed_cases_and_missing_events(
    plays: Any, epochfuzz: Any, tmp_path: Path
) -> None:
    plays(Ended.KEPT)
    document = epochfuzz("cluster", "replay", M1, POWER, "--json", "--out", tmp_path / "new").json
    (case,) = document["cases"]
    assert (case["id"], case["ended"], case["model"]["ended"]) == ("m1-loss", "KEPT", "KEPT")
    assert document["not_offered"] == {"kafka-3919-power-outage": ["flush", "power_loss"]}
    assert (tmp_path / "new" / "m1-loss.json").exists()


def test_cluster_fuzz_ends_in_time_and_saves_its_findings(
    plays: Any, epochfuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, SITE)
    plays(Ended.LOST, Ended.KEPT)
    ended = epochfuzz("cluster", "fuzz", "--for", "1s", "--seed", 3, "--save", tmp_path / "found", "--json")
    assert ended.code == 1
    (finding,) = ended.json["findings"]
    assert finding["ended"] == "LOST"
    assert links(ended.err) == [finding["play"]]
    there = opened(finding["play"])
    assert (there.step, schedule_texts(there.events)) == (len(finding["events"]), finding["events"])
    assert ([each.name for each in there.protocols], there.settings.changed()) == (["kafka-4.3.1"], {"replicas": 3})
    assert [path.name for path in (tmp_path / "found").iterdir()] == [f"cluster-lost-3-{finding['schedule']}.yaml"]
    plays(Ended.KEPT)
    assert epochfuzz("cluster", "fuzz", "--for", "1s").code == 0


def test_an_interrupted_cluster_fuzz_prints_its_results_and_exits_with_130(
    plays: Any, epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plays(Ended.KEPT)

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fuzz.Fuzzer, "run", interrupt)
    ended = epochfuzz("cluster", "fuzz", "--for", "1s", "--seed", 3, "--json")
    assert (ended.code, ended.json["schedules"]) == (130, 0)
    assert "stopped" in ended.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("replay", "none.yaml"), "none.yaml"),
        (("replay", M1, "--kafka-home", "no-such-directory"), "no-such-directory is not a directory"),
        (("replay", M1, "--kafka-home", "tests"), "has no Kafka, because libs/kafka_2.13-VERSION.jar is missing"),
        (("replay", M1, "--release", "trunk"), "the release must have a name such as 4.3.1; got 'trunk'"),
        (("fuzz", "--for", "soon"), "--for: a duration is a number and s, m or h"),
        (
            ("fuzz", "--for", "1s", "--kafka-home", "tests"),
            "has no Kafka, because libs/kafka_2.13-VERSION.jar is missing",
        ),
        (("fuzz", "--for", "1s", "--replicas", "4"), "--replicas must be from 2 to 3; got '4'"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_a_cluster_command_stops_with_a_clear_message_for_invalid_input(
    words: tuple[str, ...], told: str, epochfuzz: Any
) -> None:
    ended = epochfuzz("cluster", *words)
    assert ended.code == 2
    assert told in ended.err
    assert "Traceback" not in ended.err


def test_cluster_replay_does_not_overwrite_the_directory_of_an_earlier_replay(
    epochfuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_kafka: Installation
) -> None:
    monkeypatch.setattr(installation, "from_maven", lambda release: no_kafka)
    (tmp_path / "cluster-1").mkdir()
    ended = epochfuzz("cluster", "replay", M1, "--out", tmp_path)
    assert ended.code == 2
    assert "cluster-1 already exists; name another directory, or remove it" in ended.err


def test_a_cluster_command_stops_with_a_message_if_its_directory_cannot_be_created(
    plays: Any, epochfuzz: Any, tmp_path: Path
) -> None:
    plays(Ended.KEPT)
    (tmp_path / "file").touch()
    for words in (("replay", M1, "--out"), ("fuzz", "--for", "1s", "--save")):
        ended = epochfuzz("cluster", *words, tmp_path / "file" / "new")
        assert ended.code == 2
        assert "Traceback" not in ended.err
        assert str(tmp_path / "file" / "new") in ended.err
