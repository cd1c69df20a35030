"""An exhaustive campaign plays every transition within bounds on Spark, with the results of a local run."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.campaign.conformance.tours_job import OtherTransitionsError, Tours
from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.run.kinds import work_of_text
from epochfuzz.harness.campaign.run.status import CampaignState, status_of
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.conform.exhaustive.rounds import Round
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.campaign.conftest import Quiet
from tests.campaign.test_conformance import found
from tests.conform.running import ROOT, SUBJECT, WRONG

pytestmark = pytest.mark.thorough

N = 256
DEFECTIVE = (*SUBJECT, "--defect", "shrinking-does-not-advance")
SMALL = ("--exhaustive", "--epochs", "0", "--processes-for", "40", "--certify", "0", "--json")


def exhaust(epochfuzz: Any, *words: str, subject: tuple[str, ...] = DEFECTIVE) -> Any:
    ended = epochfuzz("conform", *SMALL, *words, "--", *subject)
    assert ended.code in (0, 1), ended.err
    return ended


def results(ended: Any) -> dict[str, Any]:
    """Return the JSON of a run without times and the command line."""
    others = ("seconds", "steps_per_second", "reproduce")
    return {name: value for name, value in ended.json.items() if name not in others}


@pytest.fixture(autouse=True)
def somewhere_else(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))


def tours(*command: str, refused: bool = False) -> Tours:
    settings = Configuration(replicas=2, records=1, epochs=0)
    return Tours(
        Plan(
            command=command,
            protocols=[parse_protocol("kip-320")],
            settings=settings,
            schedules=0,
            seed=0,
            processes_for=40,
        ),
        refused,
    )


def campaign(spark, directory, work: Tours) -> Campaign[Conformance]:
    return Campaign.start_or_load(spark, str(directory), work)


def played(directory) -> dict[int, Any]:
    """Return the row of each block without the worker and the wave that played the block."""
    others = ("worker", "memory", "wave")
    rows = (
        row for part in LocalTables(Path(directory)).tables("blocks") for row in part.to_pylist() if not row["again"]
    )
    return {row["number"]: {name: value for name, value in row.items() if name not in others} for row in rows}


@pytest.fixture(scope="module")
def finished(spark, tmp_path_factory):
    """The directory and the results of an undisturbed campaign."""
    directory = tmp_path_factory.mktemp("tours") / "finished"
    return directory, campaign(spark, directory, tours(*DEFECTIVE)).run(Quiet())


def test_an_exhaustive_campaign_has_the_results_of_a_local_run_and_shows_them_again(epochfuzz):
    here = exhaust(epochfuzz)
    there = exhaust(epochfuzz, "--campaign", "c")
    assert here.json["transitions"]["differing"] > 0
    assert results(there) == results(here)
    assert here.json["findings"][0]["events"] == ["produce A", "shrink B"]
    assert f"--exhaustive --campaign c -- {DEFECTIVE[0]}" in there.json["reproduce"]
    assert results(exhaust(epochfuzz, "--campaign", "c")) == results(here)


@pytest.mark.slow
def test_a_resumed_exhaustive_campaign_plays_the_lost_waves_of_a_round_again(spark, finished, tmp_path):
    directory, undisturbed = finished
    copied = tmp_path / "c"
    shutil.copytree(directory, copied, ignore=shutil.ignore_patterns("outcome", "findings"))
    for wave in sorted(copied.glob("blocks/wave=*"))[1:]:
        shutil.rmtree(wave)
    begun = set(played(copied))
    assert 0 < len(begun) < len(played(directory))
    status = status_of(LocalTables(copied))
    assert status.state is CampaignState.UNFINISHED
    assert status.so_far.counts["reachable"] == N
    assert 0 < status.so_far.counts["played"] < undisturbed.toured.applied.played
    resumed = campaign(spark, copied, tours(*DEFECTIVE)).run(Quiet())
    assert played(copied) == played(directory)
    assert resumed.toured == undisturbed.toured
    assert found(resumed) == found(undisturbed)


@pytest.mark.slow
def test_option_refused_sends_events_that_are_not_enabled_and_reports_unstable_responses(epochfuzz, tmp_path):
    unstable = (*WRONG, "unstable", str(tmp_path / "shown"))
    ended = exhaust(epochfuzz, "--refused", "--campaign", "c", subject=unstable)
    refused = ended.json["transitions"]["refused"]
    assert refused["played"] == refused["reachable"] > N
    of_all = ended.json["transitions"]
    assert of_all["played"] + of_all["behind"] == N
    assert {finding["kind"] for finding in ended.json["findings"]} == {"unstable"}


def test_campaign_report_shows_the_share_of_transitions_that_were_played(epochfuzz, finished):
    directory, undisturbed = finished
    ended = epochfuzz("campaign", "report", str(directory), "--json")
    assert f"{undisturbed.toured.applied.played:,} of {N:,} transitions" in ended.err
    assert [each["length"] for each in ended.json["findings"]] == [2]


def test_an_exhaustive_campaign_rejects_another_choice_of_refused_and_a_time_limit(spark, finished, epochfuzz):
    with pytest.raises(CampaignError, match="another choice of --refused"):
        campaign(spark, finished[0], tours(*DEFECTIVE, refused=True))
    ended = epochfuzz("conform", "--exhaustive", "--for", "1s", "--campaign", "c", "--", *DEFECTIVE)
    assert ended.code == 2
    assert "--for can't be combined with --exhaustive and --campaign" in ended.err


def test_a_worker_that_numbers_transitions_differently_raises_an_error(spark, finished):
    graph = tours().graph_of(["produce", "fetch"])
    work = tours()
    work.tell(["produce"], Round(graph, ~graph.refused, graph.refused, 0), 0, 0)
    with pytest.raises(OtherTransitionsError):
        work_of_text(work.text_for_workers).get_ready()
