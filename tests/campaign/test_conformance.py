"""A campaign of conformance: the command runs on Spark's workers, and what comes of it is kept."""

import sys
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from epochfuzz.harness.campaign.errors import CampaignError, sentence
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform import rows
from epochfuzz.harness.conform.block import run_block
from epochfuzz.harness.conform.campaign import Campaign
from epochfuzz.harness.conform.plan import Plan
from epochfuzz.harness.conform.run import Conformance, run
from epochfuzz.harness.conform.workers import Processes
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.protocols import parse_protocol
from tests.conform.running import ROOT, SUBJECT

KIP_320 = parse_protocol("kip-320")
CASES = load_corpus([ROOT / "corpus" / "documents" / "isr-shrink-and-rejoin.yaml"])


def plan_of(*command: str, schedules: int = 60, seed: int = 3) -> Plan:
    return Plan(command, [KIP_320], Configuration(), schedules, seed, CASES)


DEFECTIVE = plan_of(*SUBJECT, "--defect", "everyone-is-waited-for")


def processes_of(word: str) -> list[str]:
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(file.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return [line for line in lines if word in line]


def kept(spark, directory) -> list[int]:
    return sorted(row["number"] for row in spark.read.parquet(f"{directory}/blocks").select("number").collect())


@pytest.fixture(scope="module")
def finished(spark, tmp_path_factory):
    directory = str(tmp_path_factory.mktemp("campaign") / "finished")
    return directory, run(DEFECTIVE, Campaign(spark, directory, DEFECTIVE))


def found(conformance: Conformance) -> list[dict]:
    return [rows.nonconformity_row(each) for each in conformance.nonconformities]


def test_it_finds_what_a_run_on_this_machine_finds(spark, finished):
    directory, there = finished
    here = run(DEFECTIVE, Processes())
    assert here.nonconformities
    assert found(there) == found(here)
    assert asdict(there.shown) == asdict(here.shown)
    assert (there.schedules, there.cases, there.conforms) == (60, 1, False)
    assert kept(spark, directory) == [0, 1, 2]


def test_it_goes_on_where_it_was_ended_and_runs_no_block_twice(spark, tmp_path):
    plan, directory = DEFECTIVE, str(tmp_path / "c")
    results = Campaign(spark, directory, plan).results(plan, KIP_320)
    before = next(results)
    results.close()
    begun = kept(spark, directory)
    assert begun
    assert len(begun) < plan.blocks
    files = set(Path(directory).glob("blocks/*/*.parquet"))
    again = list(Campaign(spark, directory, plan).results(plan, KIP_320))
    assert rows.block_row("kip-320", 0, again[0]) == rows.block_row("kip-320", 0, before)
    assert len(again) == plan.blocks
    assert files < set(Path(directory).glob("blocks/*/*.parquet"))  # Spark gives what it writes another name each time
    assert kept(spark, directory) == [0, 1, 2]


def test_a_finished_one_is_shown_again_without_running_anything(spark, finished, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("there was nothing left to run")

    monkeypatch.setattr("epochfuzz.harness.campaign.workers.Workers.map", refuse)
    directory, done = finished
    shown = run(DEFECTIVE, Campaign(spark, directory, DEFECTIVE))
    assert found(shown) == found(done)
    assert shown.seconds > 0


def test_a_directory_of_another_campaign_is_refused_with_what_differs(spark, tmp_path):
    Campaign(spark, str(tmp_path), plan_of("x", seed=1))
    with pytest.raises(CampaignError, match="another command, another seed: go on with what it was begun with"):
        Campaign(spark, str(tmp_path), plan_of("y", seed=2))


def test_a_command_that_a_worker_cannot_start_is_named(spark, tmp_path):
    plan = plan_of("no-such-command")
    with pytest.raises(PySparkException) as failed:
        run(plan, Campaign(spark, str(tmp_path), plan))
    assert "'no-such-command' cannot be started" in sentence(str(failed.value))


def test_no_process_of_the_subject_is_left(spark, tmp_path):
    command = (sys.executable, str(ROOT / "tests" / "conform" / "hostile.py"), "hang", "event", "left-by-campaign")
    plan = Plan(command, [KIP_320], Configuration(), 1, 1, patience=0.1)
    assert not run(plan, Campaign(spark, str(tmp_path), plan)).conforms
    assert processes_of("left-by-campaign") == []


def test_what_came_of_a_block_is_the_same_after_it_was_kept():
    for number in range(DEFECTIVE.blocks):
        row = rows.block_row("kip-320", number, run_block(DEFECTIVE.block_of(KIP_320, number)))
        (read,) = pa.Table.from_pylist([row], rows.BLOCKS).to_pylist()
        assert rows.block_row("kip-320", number, rows.block_result(read, DEFECTIVE)) == row


def test_a_plan_is_the_same_after_it_was_sent():
    assert Plan.from_document(DEFECTIVE.document()).document() == DEFECTIVE.document()
    assert list(Plan.from_document(DEFECTIVE.document()).trials(1)) == list(DEFECTIVE.trials(1))
