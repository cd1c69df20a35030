"""Blocks that are walked twice have to come out the same."""

import pytest
from pyspark.sql import functions as F

from epochfuzz.harness.campaign import checks, waves
from epochfuzz.harness.campaign.campaign import Campaign
from epochfuzz.harness.campaign.checks import Checked
from epochfuzz.harness.campaign.errors import NonDeterminismError

from .conftest import Quiet, parameters


def test_one_block_in_so_many_is_walked_twice(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(waves, "SAMPLED", 4)
    asked = parameters(schedules=9, block=1)
    campaign = Campaign.start(spark, str(tmp_path / "c"), asked)
    campaign.walk(Quiet())
    written = waves.written_blocks(campaign.directory)
    assert sorted(row["first"] for row in written.where("again").collect()) == [0, 4, 8]
    assert checks.compare(written).blocks == 3
    assert campaign.tally().schedules == asked.schedules


def test_two_workers_count_where_they_are_two(spark, undisturbed):
    written = waves.written_blocks(undisturbed.directory).withColumn("worker", F.concat("worker", F.col("again")))
    checked = checks.compare(written)
    assert (checked.blocks, checked.elsewhere) == (1, 1)
    assert checked.memory > 50 << 20
    assert checks.compare(written.withColumn("worker", F.lit("one"))).elsewhere == 0


def test_a_block_that_comes_out_otherwise_ends_the_campaign(spark, undisturbed):
    written = waves.written_blocks(undisturbed.directory)
    other = written.withColumn("schedules", F.col("schedules") + F.col("again").cast("long"))
    with pytest.raises(NonDeterminismError, match="begins with schedule 0 was walked more than once"):
        checks.compare(other)


def test_nothing_walked_is_nothing_to_compare():
    assert checks.compare(None) == Checked(0, 0, 0)
