"""A campaign on clusters: blocks are shared out, each task has a cluster, and findings are shrunk by replay.

A player of the tests' own stands in for the cluster, and tasks run in this process.
"""

import importlib
import shutil
import threading
import zipfile
from collections import Counter
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

pytest.importorskip("confluent_kafka")

from epochfuzz.harness.campaign.clusters import play_blocks, plays
from epochfuzz.harness.campaign.clusters.cluster_job import ClusterOutcome, Clusters
from epochfuzz.harness.campaign.clusters.cluster_parameters import ClusterParameters
from epochfuzz.harness.campaign.run import worker
from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.run.kinds import work_of_text
from epochfuzz.harness.campaign.run.pace import Pace
from epochfuzz.harness.campaign.spark import workers
from epochfuzz.harness.campaign.store.errors import CampaignError, sentence
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cli import cluster_results
from epochfuzz.harness.cluster.broker import installation, tools
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.cluster.schedules import choose, player
from epochfuzz.harness.documents.cluster_records import Ended, EventOutcome, ObservedState, PlayedEvent, Playing
from epochfuzz.harness.environment import extras
from tests.campaign.conftest import Quiet

pytestmark = pytest.mark.thorough

LOSING = "produce A"
ASKED = ClusterParameters(release="4.3.1", protocol="kafka-4.3.1", replicas=3, seed=28, schedules=5, block=2)
BLOCKS = [0, 1, 2]
DRAWN = 4  # instead of 100, which take a second
ONE_AT_A_TIME = threading.Lock()  # like a worker, although the campaign requests two waves at once


class Player:
    """Lose a record in every schedule with the event LOSING. If `breaks` is set, raise a ClusterError instead."""

    open: ClassVar[list["Player"]] = []
    played: ClassVar[list[tuple[str, ...]]] = []
    breaks: ClassVar[bool] = False

    def __init__(self, kafka: Installation, out: Path | None) -> None:
        assert (kafka.release, out) == ("4.3.1", None)

    def __enter__(self) -> "Player":
        self.open.append(self)
        return self

    def __exit__(self, *ended: object) -> None:
        self.open.remove(self)

    def play(self, settings: Any, schedule: list[str]) -> Playing:
        assert self in self.open
        assert settings.replicas == 3
        if self.breaks:
            raise ClusterError("there is no room for a cluster")
        self.played.append(tuple(schedule))
        lost = LOSING in schedule
        ended, why = (Ended.LOST, "acknowledged and gone: m0@0") if lost else (Ended.KEPT, "")
        seen = ObservedState(dict.fromkeys("ABC", ()), "A", ("A", "B", "C"))
        return Playing(
            ended=ended,
            why=why,
            steps=[
                PlayedEvent(number=1 + i, event=each, outcome=EventOutcome.DONE, what="", seconds=0.0, seen=seen)
                for i, each in enumerate(schedule)
            ],
        )


def run_here(self, numbers, task, argument, schema):
    """Run a task in this process, in place of workers.Workers.map."""
    module, _, name = task.rpartition(":")
    function = getattr(importlib.import_module(module or worker.__name__), name)
    with ONE_AT_A_TIME:
        batches = function(argument, iter(numbers.toArrow().to_batches()))
        rows = [row for batch in batches for row in batch.to_pylist()]
    return self.spark.createDataFrame(pa.Table.from_pylist(rows, schema))


def fake(patch: pytest.MonkeyPatch) -> None:
    for module in (choose, play_blocks, cluster_results):
        patch.setattr(module, "DRAWN_FOR_ONE", DRAWN)
    patch.setattr(player, "Player", Player)
    patch.setattr(Player, "open", [])
    patch.setattr(Player, "played", [])
    patch.setattr(installation, "from_maven", lambda release: Installation(release, ("kafka.jar",)))
    patch.setattr(workers.Workers, "map", run_here)


@pytest.fixture(autouse=True)
def faked(monkeypatch):
    fake(monkeypatch)


@pytest.fixture(scope="module")
def finished(spark, tmp_path_factory):
    """The directory and the results of an undisturbed campaign."""
    directory = tmp_path_factory.mktemp("clusters") / "finished"
    with pytest.MonkeyPatch.context() as patch:
        fake(patch)
        return directory, begin(spark, directory).run(Quiet())


def begin(spark, directory, asked: ClusterParameters = ASKED) -> Campaign[ClusterOutcome]:
    return Campaign.start(spark, str(directory), Clusters(asked))


def played(directory: Path) -> dict[int, list[tuple[int, list[str]]]]:
    """Return the numbers and the events of the played schedules, by block."""
    rows = list(LocalTables(directory).blocks(plays.BLOCKS))
    return {row["number"]: [(each["schedule"], each["events"]) for each in row["played"]] for row in rows}


def rows_of(numbers: list[int]) -> list[dict[str, Any]]:
    batches = worker.do_blocks(Clusters(ASKED).text, iter([pa.RecordBatch.from_pydict({"id": numbers})]))
    return [row for batch in batches for row in batch.to_pylist()]


def test_a_cluster_campaign_plays_the_requested_number_of_chosen_schedules_once(finished):
    directory, outcome = finished
    schedules = [number for block in played(directory).values() for number, _ in block]
    assert [number // DRAWN for number in schedules] == [0, 1, 2, 3, 4]
    assert (outcome.fuzzed.schedules, outcome.fuzzed.drawn) == (5, 5 * DRAWN)
    assert sum(outcome.fuzzed.ends.values()) == 5
    assert not any(row["again"] for part in LocalTables(directory).tables("blocks") for row in part.to_pylist())


def test_the_schedules_of_a_block_depend_on_the_seed_and_the_block_number_only(finished):
    directory, _ = finished
    for numbers in ([2], [1, 0]):
        for row in rows_of(numbers):
            chosen = [(each["schedule"], each["events"]) for each in row["played"]]
            assert chosen == played(directory)[row["number"]]


def test_a_cluster_finding_is_shrunk_and_saved_as_a_case_with_the_verdict_of_the_model(finished):
    directory, outcome = finished
    (finding,) = outcome.fuzzed.findings
    assert (finding.ended, finding.model) == (Ended.LOST, Ended.KEPT)
    rows = list(LocalTables(directory).blocks(plays.BLOCKS))
    lost = [each for row in rows for each in row["played"] if each["ended"] == "LOST"]
    assert outcome.seen == (len(lost),)
    assert finding.shrunk_from == min(len(each["events"]) for each in lost)
    (case,) = load_corpus([directory / "cases"])
    assert case.id == f"cluster-lost-28-{finding.number}"
    assert (case.events, len(case.events)) == (finding.events, 1)
    assert outcome.fuzzed.replays > 0


def test_a_killed_cluster_campaign_resumes_to_equal_plays_and_repeats_no_finished_block(spark, finished, tmp_path):
    directory, undisturbed = finished
    copied = tmp_path / "c"
    shutil.copytree(directory, copied, ignore=shutil.ignore_patterns("outcome", "findings", "cases"))
    first, *others = sorted(copied.glob("blocks/wave=*"))
    for wave in others:
        shutil.rmtree(wave)
    done = sum(len(block) for block in played(copied).values())
    assert 0 < done < 5
    resumed = Campaign.load(spark, str(copied)).run(Quiet())
    assert first in copied.glob("blocks/wave=*")
    assert played(copied) == played(directory)
    assert len(Player.played) == 5 - done + resumed.fuzzed.replays
    assert (resumed.fuzzed.ends, resumed.fuzzed.findings) == (undisturbed.fuzzed.ends, undisturbed.fuzzed.findings)


def test_a_finished_cluster_campaign_shows_its_findings_without_playing_schedules(spark, finished):
    directory, undisturbed = finished
    shown = Campaign.load(spark, str(directory)).run(Quiet())
    assert (shown.fuzzed, shown.seen) == (undisturbed.fuzzed, undisturbed.seen)
    assert Player.played == []


@pytest.mark.parametrize("how", ["done", "failed", "left"])
def test_a_task_uses_one_cluster_for_all_its_blocks_and_always_stops_the_cluster(how, monkeypatch):
    numbers = iter([pa.RecordBatch.from_pydict({"id": BLOCKS})])
    task: Any = worker.do_blocks(Clusters(ASKED).text, numbers)
    next(task)
    (cluster,) = Player.open
    next(task)
    assert Player.open == [cluster]
    if how == "done":
        assert len(list(task)) == 1
    elif how == "failed":
        monkeypatch.setattr(Player, "breaks", True)
        with pytest.raises(ClusterError):
            next(task)
    else:
        task.close()
    assert Player.open == []


def test_a_replayed_block_may_end_differently_but_must_have_equal_schedules(finished):
    directory, _ = finished
    work = Clusters(ASKED)
    row, *_ = LocalTables(directory).blocks(plays.BLOCKS)
    ended = row | {"played": [each | {"ended": "STUCK", "steps": 1} for each in row["played"]]}
    assert work.compared(ended) == work.compared(row)
    other = row | {"played": [each | {"schedule": 7} for each in row["played"]]}
    assert work.compared(other) != work.compared(row)


def test_a_wave_has_a_task_for_each_core_since_a_cluster_takes_long_to_start():
    pace = Pace(2, Clusters.LONGEST_WAVE, Clusters.TASK)
    pace.rate = 1 / 30
    assert pace.wave(3_600, None, None) == 4
    assert pace.tasks(4) == 2


def test_a_task_receives_its_parameters_as_text():
    work = work_of_text(Clusters(ASKED).text)
    assert isinstance(work, Clusters)
    assert work.parameters == ASKED
    assert [list(ASKED.turns(block)) for block in BLOCKS] == [[0, 1], [2, 3], [4]]
    assert replace(ASKED, schedules=None, seconds=9.0).turns(2) == range(4, 6)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"replicas": 4}, "replicas must be from 2 to 3; got 4"),
        ({"schedules": 0}, "schedules must be at least 1; got 0"),
        ({"schedules": None}, "schedules or seconds must end the campaign; give exactly one of them"),
        ({"protocol": "kafka-0"}, "unknown protocol: 'kafka-0'"),
        ({"release": None}, "release must have a value"),
    ],
)
def test_a_cluster_campaign_rejects_invalid_parameters(changed, complaint):
    with pytest.raises(ValueError, match=complaint):
        Clusters.from_row(ASKED.row() | changed)


def test_the_error_names_the_program_that_a_worker_lacks(monkeypatch):
    def missing(name: str) -> str:
        raise ClusterError(f"{name} is missing; run `sudo apt-get install maven`")

    monkeypatch.setattr(tools, "tool", missing)
    with pytest.raises(ClusterError) as failed:
        Clusters(ASKED).get_ready()
    message = "a worker cannot start Kafka: setpriv is missing; run `sudo apt-get install maven`"
    assert str(failed.value) == message
    name = f"{ClusterError.__module__}.{ClusterError.__name__}"
    assert sentence(f"Traceback (most recent call last):\n  File x\n{name}: {failed.value}\n") == message


def test_a_cluster_campaign_does_not_start_without_the_cluster_extra_on_the_driver(spark, tmp_path, monkeypatch):
    monkeypatch.setitem(extras.EXTRAS, "cluster", ("this talks to Kafka by its clients", ("no_such_module",)))
    with pytest.raises(CampaignError, match=r"no_such_module is not installed: pip install 'epochfuzz\[cluster\]'"):
        begin(spark, tmp_path / "c")


def test_the_zip_for_remote_workers_includes_the_maven_and_log4j_files():
    _, sources = workers.zip_of_sources()
    names = zipfile.ZipFile(BytesIO(sources)).namelist()
    assert {"pom.xml", "log4j2-gates.properties"} <= {Path(name).name for name in names}


RUN = ("--engine", "cluster", "--replicas", 3, "--schedules", 3, "--seed", 5)


def test_run_resume_and_report_show_equal_results_of_a_cluster_campaign(epochfuzz, tmp_path):
    ran = epochfuzz("campaign", "run", "--out", tmp_path / "c", *RUN, "--json")
    assert ran.code == 1, ran.err
    assert (ran.json["release"], ran.json["schedules"], ran.json["drawn"]) == ("4.3.1", 3, 3 * DRAWN)
    (finding,) = ran.json["findings"]
    assert (finding["ended"], finding["model"], finding["events"]) == ("LOST", "KEPT", [LOSING])
    assert ran.json["unlike_the_model"] == {"LOST here, KEPT in the model": finding["seen"]}
    assert "--engine cluster --release 4.3.1 --replicas 3 --schedules 3 --seed 5" in ran.json["reproduce"]
    for command in ("resume", "report"):
        again = epochfuzz("campaign", command, tmp_path / "c", "--json")
        assert (again.code, again.json) == (1, ran.json | {"directory": str(tmp_path / "c")})
    shown = epochfuzz("campaign", "report", tmp_path / "c").out
    assert f"LOST here, KEPT in the model: seen in {finding['seen']} schedules. Schedule " in shown
    assert f"\n  {LOSING}\n  acknowledged and gone: m0@0\n" in shown
    assert f"\nplay: {finding['play']}" in shown
    assert "3 schedules, " in shown
    refused = epochfuzz("campaign", "report", tmp_path / "c", "--sarif", tmp_path / "c.sarif")
    assert (refused.code, f"but {tmp_path / 'c'} is about Kafka itself" in refused.err) == (2, True)


def test_the_report_of_an_unfinished_cluster_campaign_shows_its_findings_so_far(epochfuzz, finished, tmp_path):
    directory, outcome = finished
    shutil.copytree(directory, tmp_path / "c", ignore=shutil.ignore_patterns("outcome", "findings"))
    shown = epochfuzz("campaign", "report", tmp_path / "c")
    assert shown.code == 1
    assert "5 schedules · " in shown.out
    assert f" · {outcome.seen[0]} of them found something" in shown.out
    assert "LOST here, KEPT in the model" in shown.out
    assert ", not shrunk yet" in shown.out
    assert f"epochfuzz campaign resume {tmp_path / 'c'}" in shown.out
    history = epochfuzz("campaign", "report", "--history", tmp_path / "c", directory, "--json").json
    assert Counter(line["property"] for line in history["findings"]) == {"LOST here, KEPT in the model": 1}


def test_a_loss_that_the_model_has_as_well_is_a_known_bug():
    as_modelled = {"ended": "LOST", "model": "LOST", "length": 3, "seen": 2}
    (found,) = plays.found("kafka-4.3.1", [as_modelled])
    assert (found.property, found.known_flaw) == ("LOST, as in the model", "the model of the release ends so, too")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--protocol", "hw"), "--protocol can't be combined with --engine cluster"),
        (("--acks", "1", "--certify", "0"), "--certify and --acks can't be combined with --engine cluster"),
        (("--machine", "a:B"), "--machine needs --engine hypothesis"),
        (("--until-stable", "0.1"), "--until-stable needs --engine walk"),
        (("--release", "trunk"), "the release must have a name such as 4.3.1; got 'trunk'"),
        (("--replicas", "4"), "--replicas must be at most 3, the brokers of a cluster; got 4"),
        (("--schedules", "1", "--for", "1h"), "--schedules can't be combined with --for"),
    ],
)
def test_campaign_rejects_options_that_do_not_apply_to_the_cluster_engine(epochfuzz, words, complaint):
    ended = epochfuzz("campaign", "run", "--out", "c", "--engine", "cluster", *words)
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err


def test_option_release_needs_the_cluster_engine(epochfuzz):
    ended = epochfuzz("campaign", "run", "--out", "c", "--release", "4.3.1")
    assert (ended.code, "--release needs --engine cluster" in ended.err) == (
        2,
        True,
    )
