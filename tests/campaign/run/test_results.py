"""A campaign has the findings of `fuzz`, no matter how Spark divides the work."""

from dataclasses import astuple
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from epochfuzz.harness.campaign.machines.own import MachineFailure
from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.spark.spark_tables import SparkTables
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store.blocks import schema
from epochfuzz.harness.campaign.walks import findings, sums, walk_blocks
from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.harness.engine.walk import walking
from epochfuzz.harness.engine.walk.walk import Tally
from epochfuzz.harness.findings import findings as fuzz
from tests.campaign.conftest import Quiet, block_rows, engine, parameters, start

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def fuzzed(undisturbed):
    asked = undisturbed.parameters
    walker = engine(asked)
    tally = walking.walk(walker, asked.schedules, None, jobs=2).tally
    breaches = fuzz.breaches(asked.protocols, asked.settings, tally)
    return tally, fuzz.certified([fuzz.finding(walker, breach, fuzz.MOST_CANDIDATES) for breach in breaches], None)


def assert_same(one: Tally, other: Tally):
    assert one.schedules == other.schedules
    for name in ("events", "failures", "goals", "shortest"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for met, other_met in zip(one.met, other.met, strict=True):
        np.testing.assert_array_equal(astuple(met), astuple(other_met))


def test_a_campaign_has_the_tally_of_fuzz(undisturbed, fuzzed):
    assert_same(undisturbed.outcome.tally, fuzzed[0])


def test_a_campaign_has_the_findings_of_fuzz(undisturbed, fuzzed):
    assert undisturbed.outcome.findings == fuzzed[1]
    assert len(fuzzed[1]) == 6


def test_the_size_of_blocks_does_not_change_the_tally(spark, undisturbed, tmp_path):
    asked = parameters(protocols=("kip-320", "hw"), block=7_000)
    campaign = start(spark, tmp_path / "c", asked)
    campaign.do_blocks(Quiet())
    assert len(block_rows(campaign.directory)) == 3
    assert_same(campaign.work.summed(campaign.tables).tally, undisturbed.outcome.tally)


@pytest.mark.parametrize("partitions", [1, 5])
def test_the_number_of_partitions_changes_no_row(spark, undisturbed, partitions):
    numbers = spark.range(0, 40, 1, partitions)
    rows = Workers(spark).map(numbers, "do_blocks", undisturbed.work.text, schema(undisturbed.work))
    assert rows.drop("worker", "memory").orderBy("first").toArrow().to_pylist() == block_rows(undisturbed.directory)


def test_the_rows_of_blocks_add_up_to_the_tally_of_a_whole_run():
    walker = engine(parameters(protocols=("kip-101", "hw")))
    tallies = [walker.walk(first, 100) for first in (0, 100, 200)]
    rows = [
        walk_blocks.row(first, tally, walker.protocols) for first, tally in zip((0, 100, 200), tallies, strict=True)
    ]
    whole = walker.walk(0, 300)
    table = pa.Table.from_pylist(rows, walk_blocks.SCHEMA)
    assert_same(sums.summed([table], walker.protocols).tally, whole)


def test_sums_of_the_workers_and_of_the_driver_are_equal(undisturbed, spark):
    campaign = Campaign.load(spark, undisturbed.directory.uri)
    work: Any = campaign.work
    remote = SparkTables(spark, undisturbed.directory.uri)
    assert_same(work.summed(remote).tally, work.summed(campaign.tables).tally)


def test_a_sum_of_sums_keeps_the_shortest_failure_of_each_error_and_counts_the_failures():
    def error(name, schedule, *steps):
        return MachineFailure(name, f"{name} of {schedule}", steps, schedule)

    blocks = [
        walk_blocks.machine_row(0, 2, 5, [error("OverflowError", 0, "a", "b"), error("OverflowError", 1, "a")]),
        walk_blocks.machine_row(2, 1, 2, [error("OverflowError", 2, "b")]),
        walk_blocks.machine_row(3, 1, 1, [error("KeyError", 3, "a")]),
    ]
    tables = [pa.Table.from_pylist([row], walk_blocks.SCHEMA) for row in blocks]
    parts = [sums.sum_row(sums.summed(some, ()), ()) for some in (tables[:2], tables[2:])]
    whole = sums.summed([pa.Table.from_pylist(parts, sums.SUMS)], ())
    assert (whole.tally.schedules, whole.steps) == (4, 8)
    assert {name: (each["schedule"], each["seen"]) for name, each in whole.errors.items()} == {
        "OverflowError": (1, 3),
        "KeyError": (3, 1),
    }


def test_each_finding_of_a_campaign_is_saved_as_a_case_that_replays_as_expected(undisturbed):
    outcome, place = undisturbed.outcome, undisturbed.directory.local / "cases"
    kept = {path.stem: load_case(path) for path in place.iterdir()}
    assert len(kept) == len(outcome.findings)
    lost = kept["hw-no-committed-loss"]
    assert lost.events == outcome.findings[0].reproducer.schedule
    assert lost.provenance["seed"] == 7
    assert "no-committed-loss" in lost.expect["hw"].broken
    assert lost.expect["kip-320"].broken == ()
    assert all(judge(case).as_expected for case in kept.values())
    stored = undisturbed.tables.read_rows("findings", findings.SCHEMA)
    assert {row["case"] for row in stored} == {path.read_text() for path in place.iterdir()}


def test_a_campaign_with_a_time_limit_runs_consecutive_schedules_from_the_first_on(spark, tmp_path):
    asked = parameters(schedules=None, seconds=0.5, block=100)
    campaign = start(spark, tmp_path / "c", asked)
    campaign.do_blocks(Quiet())
    tally = campaign.work.summed(campaign.tables).tally
    assert tally.schedules >= 100
    assert_same(tally, engine(asked).walk(0, tally.schedules))


def test_a_campaign_of_kip_320_finishes_without_findings(spark, tmp_path):
    campaign = start(spark, tmp_path / "c", parameters(protocols=("kip-320",), schedules=500))
    assert campaign.run(Quiet()).findings == []
    assert Campaign.load(spark, str(tmp_path / "c")).outcome().tally.schedules == 500
