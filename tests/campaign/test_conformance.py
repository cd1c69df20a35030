"""A conformance campaign runs an adapter on Spark's workers and keeps the results."""

import shutil
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from epochfuzz.harness.campaign.conformance import rows
from epochfuzz.harness.campaign.conformance.conformance_job import Trials
from epochfuzz.harness.campaign.conformance.results import unstable
from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.run.status import CampaignState, status_of
from epochfuzz.harness.campaign.store.errors import CampaignError, sentence
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.protocol.discrepancy import DiscrepancyKind
from epochfuzz.harness.conform.run import block_rows
from epochfuzz.harness.conform.run.block import run_block
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance, run
from epochfuzz.harness.conform.run.workers import Processes
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.campaign.conftest import Quiet
from tests.conform.running import HOSTILE, ROOT, SUBJECT

pytestmark = pytest.mark.thorough

KIP_320 = parse_protocol("kip-320")
CASES = load_corpus([ROOT / "corpus" / "documents" / "isr-shrink-and-rejoin.yaml"])


def plan_of(*command: str, schedules: int = 60, seed: int = 3) -> Plan:
    return Plan(
        command=command, protocols=[KIP_320], settings=Configuration(), schedules=schedules, seed=seed, cases=CASES
    )


DEFECTIVE = plan_of(*SUBJECT, "--defect", "everyone-is-waited-for")


def campaign(spark, directory, plan: Plan) -> Campaign[Conformance]:
    return Campaign.start_or_load(spark, str(directory), Trials(plan))


def processes_of(word: str) -> list[str]:
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(file.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return [line for line in lines if word in line]


def kept(directory) -> list[int]:
    rows = (row for part in LocalTables(Path(directory)).tables("blocks") for row in part.to_pylist())
    return sorted(row["number"] for row in rows if not row["again"])


@pytest.fixture(scope="module")
def finished(spark, tmp_path_factory):
    directory = str(tmp_path_factory.mktemp("campaign") / "finished")
    return directory, campaign(spark, directory, DEFECTIVE).run(Quiet())


# An adapter that follows the model in its first process. Every later process exits after its first reply.
FICKLE = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
try:
    os.close(os.open(sys.argv[1], os.O_CREAT | os.O_EXCL))
    import runpy
    sys.argv = sys.argv[:1]
    runpy.run_module("tests.conform.reference", run_name="__main__")
except FileExistsError:
    for line in sys.stdin:
        print('{{"ok": true}}', flush=True)
        break
"""


def found(conformance: Conformance) -> list[dict[str, Any]]:
    return [rows.nonconformity_row(each) for each in conformance.nonconformities]


def test_a_conformance_campaign_has_the_findings_of_a_local_run(spark, finished):
    directory, there = finished
    here = run(DEFECTIVE, Processes())
    assert here.nonconformities
    assert found(there) == found(here)
    assert asdict(there.shown) == asdict(here.shown)
    assert (there.schedules, there.cases, there.conforms) == (60, 1, False)
    assert kept(directory) == [0, 1, 2]


def test_the_status_of_a_conformance_campaign_has_its_counts_and_findings(finished, tmp_path):
    directory, there = finished
    status = status_of(LocalTables(Path(directory)))
    assert (status.state, status.so_far.counts["schedules"]) == (CampaignState.FINISHED, 61)
    assert status.so_far.counts["steps"] == there.shown.steps
    lengths = sorted(len(each.sighting.sent) for each in there.nonconformities)
    assert lengths == sorted(found.length for found in status.so_far.found)
    copied = tmp_path / "c"
    shutil.copytree(directory, copied, ignore=shutil.ignore_patterns("outcome", "findings"))
    unfinished = status_of(LocalTables(copied)).so_far.found
    assert {found.property for found in unfinished} >= {"difference: hw"}
    assert not any(found.is_shrunk or found.known_flaw for found in unfinished)


def test_a_killed_conformance_campaign_resumes_and_repeats_no_finished_block(spark, finished, tmp_path):
    directory, undisturbed = finished
    copied = tmp_path / "c"
    shutil.copytree(directory, copied, ignore=shutil.ignore_patterns("outcome", "findings"))
    first, *others = sorted(copied.glob("blocks/wave=*"))
    for wave in others:  # as after a kill: only the first wave is on disk
        shutil.rmtree(wave)
    begun = kept(copied)
    assert begun
    assert len(begun) < DEFECTIVE.blocks
    resumed = campaign(spark, copied, DEFECTIVE).run(Quiet())
    assert first in copied.glob("blocks/wave=*")
    assert kept(copied) == [0, 1, 2]
    assert found(resumed) == found(undisturbed)
    assert asdict(resumed.shown) == asdict(undisturbed.shown)


@pytest.mark.slow
def test_a_resumed_conformance_campaign_runs_a_lost_wave_again(spark, finished, tmp_path):
    directory, undisturbed = finished
    copied = tmp_path / "c"
    shutil.copytree(directory, copied, ignore=shutil.ignore_patterns("outcome", "findings"))
    shutil.rmtree(min(copied.glob("blocks/wave=*")))
    resumed = campaign(spark, copied, DEFECTIVE).run(Quiet())
    assert kept(copied) == [0, 1, 2]
    assert found(resumed) == found(undisturbed)


def test_a_conformance_campaign_runs_block_0_twice_with_equal_results(spark, finished):
    directory, _ = finished
    assert LocalTables(Path(directory)).differing() == []
    assert LocalTables(Path(directory)).checked().blocks == 1
    again = (row for part in LocalTables(Path(directory)).tables("blocks") for row in part.to_pylist() if row["again"])
    assert [row["number"] for row in again] == [0]


@pytest.mark.slow
def test_each_protocol_of_a_campaign_stops_at_the_schedule_where_a_local_run_stops(spark, tmp_path):
    protocols = [parse_protocol("hw"), KIP_320]
    plan = replace(DEFECTIVE, protocols=protocols, cases=(), schedules=300, max_failures=2)
    here, there = run(plan, Processes()), campaign(spark, tmp_path / "c", plan).run(Quiet())
    assert found(there) == found(here)
    assert (there.schedules, asdict(there.shown)) == (here.schedules, asdict(here.shown))


@pytest.mark.slow
def test_a_campaign_reports_an_adapter_as_unstable_if_its_second_run_differs(spark, tmp_path):
    (tmp_path / "subject.py").write_text(FICKLE)
    command = (sys.executable, str(tmp_path / "subject.py"), str(tmp_path / "count"))
    plan = Plan(command=command, protocols=[KIP_320], settings=Configuration(), schedules=2, seed=1)
    outcome = campaign(spark, tmp_path / "c", plan).run(Quiet())
    assert not outcome.conforms
    assert DiscrepancyKind.UNSTABLE in {each.fault.kind for each in outcome.nonconformities}


def test_an_unstable_block_names_its_first_schedule_whose_second_run_differs():
    first = block_rows.block_row("kip-320", 1, run_block(DEFECTIVE.block_of(KIP_320, 1)))
    assert first["failed"]
    one, *others = first["failed"]
    failed = unstable(first, first | {"failed": others}, DEFECTIVE, DEFECTIVE.trials(KIP_320, 1))
    assert (failed.trial.number, failed.sighting.sent) == (one["schedule"], parse_schedule(one["events"]))
    assert failed.fault.kind is DiscrepancyKind.UNSTABLE
    assert failed.fault.sentence.endswith("then nothing is wrong")
    printed = first | {"failed": [one | {"output": "at 0x7f3a"}, *others], "steps": 7}
    assert "7 events" in unstable(first, printed, DEFECTIVE, DEFECTIVE.trials(KIP_320, 1)).fault.sentence


def test_a_finished_conformance_campaign_shows_its_findings_without_running_schedules(spark, finished, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("there was nothing left to run")

    monkeypatch.setattr("epochfuzz.harness.campaign.spark.workers.Workers.map", refuse)
    directory, done = finished
    shown = campaign(spark, directory, DEFECTIVE).run(Quiet())
    assert found(shown) == found(done)
    assert shown.seconds > 0


def test_a_directory_of_another_campaign_is_an_error_that_names_the_differing_parameters(spark, tmp_path):
    campaign(spark, tmp_path, plan_of("x", seed=1))
    with pytest.raises(CampaignError, match="another command, another seed; resume it with its own parameters"):
        campaign(spark, tmp_path, plan_of("y", seed=2))


def test_the_error_names_a_command_that_a_worker_cannot_start(spark, tmp_path):
    plan = plan_of("no-such-command")
    with pytest.raises(PySparkException) as failed:
        campaign(spark, tmp_path, plan).run(Quiet())
    assert "cannot run 'no-such-command'" in sentence(str(failed.value))


@pytest.mark.slow
def test_a_conformance_campaign_leaves_no_process_of_a_hanging_adapter(spark, tmp_path):
    command = (*HOSTILE, "hang", "event", "left-by-campaign")
    plan = Plan(command=command, protocols=[KIP_320], settings=Configuration(), schedules=1, seed=1, patience=0.1)
    assert not campaign(spark, tmp_path, plan).run(Quiet()).conforms
    assert processes_of("left-by-campaign") == []


def test_a_campaign_compares_two_runs_of_a_block_except_for_a_client():
    assert Trials(plan_of(*SUBJECT)).is_repeatable
    assert not Trials(replace(plan_of(*SUBJECT), is_client=True)).is_repeatable


def test_a_block_result_is_equal_after_a_round_trip_through_the_table():
    for number in range(DEFECTIVE.blocks):
        row = block_rows.block_row("kip-320", number, run_block(DEFECTIVE.block_of(KIP_320, number)))
        (read,) = pa.Table.from_pylist([row], rows.BLOCKS).to_pylist()
        assert block_rows.block_row("kip-320", number, block_rows.block_result(read, DEFECTIVE)) == row


def test_a_plan_is_equal_after_a_round_trip_through_its_document():
    assert Plan.from_document(DEFECTIVE.document()).document() == DEFECTIVE.document()
    assert list(Plan.from_document(DEFECTIVE.document()).trials(KIP_320, 1)) == list(DEFECTIVE.trials(KIP_320, 1))
