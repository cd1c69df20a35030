"""A campaign runs some blocks twice, and both results must be equal."""

import pytest
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.run import waves
from epochfuzz.harness.campaign.store import blocks, determinism
from epochfuzz.harness.campaign.store.errors import NonDeterminismError
from epochfuzz.harness.documents.records import Checked
from tests.campaign.conftest import Quiet, parameters, start

pytestmark = pytest.mark.thorough


@pytest.mark.slow
def test_a_campaign_runs_every_nth_block_twice(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(waves, "SAMPLED", 4)
    asked = parameters(schedules=5, block=1)
    campaign = start(spark, tmp_path / "c", asked)
    campaign.do_blocks(Quiet())
    written = blocks.written(campaign.directory, campaign.work)
    assert sorted(row["first"] for row in written.where("again").collect()) == [0, 4]
    assert determinism.compare(written, campaign.work).blocks == 2
    assert campaign.work.tally(campaign).schedules == asked.schedules


def test_a_comparison_counts_blocks_that_ran_on_two_different_workers(spark, undisturbed):
    written = blocks.written(undisturbed.directory, undisturbed.work).withColumn(
        "worker", F.concat("worker", F.col("again"))
    )
    checked = determinism.compare(written, undisturbed.work)
    assert (checked.blocks, checked.elsewhere) == (1, 1)
    assert checked.memory > 50 << 20
    assert determinism.compare(written.withColumn("worker", F.lit("one")), undisturbed.work).elsewhere == 0


def test_a_block_with_two_different_results_is_an_error(spark, undisturbed):
    written = blocks.written(undisturbed.directory, undisturbed.work)
    other = written.withColumn("schedules", F.col("schedules") + F.col("again").cast("long"))
    with pytest.raises(NonDeterminismError, match="begins with schedule 0 gave different results on two workers"):
        determinism.compare(other, undisturbed.work)


def test_a_campaign_without_blocks_has_nothing_to_compare(undisturbed):
    assert determinism.compare(None, undisturbed.work) == Checked(0, 0, 0)
