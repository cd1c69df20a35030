"""A campaign runs some blocks twice, and both results must be equal."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from epochfuzz.harness.campaign.spark import waves
from epochfuzz.harness.campaign.spark.spark_tables import SparkTables
from epochfuzz.harness.campaign.store.checks import checked
from epochfuzz.harness.campaign.store.errors import NonDeterminismError
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.documents.records import Checked
from tests.campaign.conftest import Quiet, copied, parameters, start

pytestmark = pytest.mark.thorough


@pytest.fixture(params=["with Spark", "without Spark"])
def tables_in(request, spark):
    """Opens the tables in a directory, with Spark or without Spark."""
    if request.param == "with Spark":
        return lambda directory: SparkTables(spark, str(directory))
    return lambda directory: LocalTables(Path(directory))


def changed(undisturbed, directory, column, change):
    """Copy the undisturbed campaign with another column in its blocks. Returns the directory of the copy."""
    copied(undisturbed, directory)
    for file in directory.rglob("blocks/**/*.parquet"):
        rows = pq.read_table(file, partitioning=None)
        place = rows.column_names.index(column)
        pq.write_table(rows.set_column(place, column, change(rows)), file)
        file.with_name(f".{file.name}.crc").unlink()  # the checksum that Spark wrote
    return directory


@pytest.mark.slow
def test_a_campaign_runs_every_nth_block_twice(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(waves, "SAMPLED", 4)
    asked = parameters(schedules=5, block=1)
    campaign = start(spark, tmp_path / "c", asked)
    assert campaign.do_blocks(Quiet()).blocks == 2
    assert sorted(row["first"] for row in campaign.tables.again(campaign.work.BLOCKS, range(5))) == [0, 4]
    assert campaign.work.summed(campaign.tables).tally.schedules == asked.schedules


def test_a_comparison_counts_blocks_that_ran_on_two_different_workers(tables_in, undisturbed, tmp_path):
    def names(rows):
        return pc.cast(rows["again"], pa.string())

    compared = checked(tables_in(changed(undisturbed, tmp_path / "two", "worker", names)), undisturbed.work)
    assert (compared.blocks, compared.elsewhere) == (1, 1)
    assert compared.memory > 50 << 20

    def one(rows):
        return pa.array(["one"] * len(rows))

    assert tables_in(changed(undisturbed, tmp_path / "one", "worker", one)).checked().elsewhere == 0


def test_a_block_with_two_different_results_is_an_error(tables_in, undisturbed, tmp_path):
    def other(rows):
        return pc.binary_join_element_wise(rows["digest"], pc.cast(rows["again"], pa.string()), "-")

    tables = tables_in(changed(undisturbed, tmp_path / "c", "digest", other))
    assert tables.differing() == [0]
    with pytest.raises(NonDeterminismError, match="begins with schedule 0 gave different results on two workers"):
        checked(tables, undisturbed.work)


def test_a_campaign_without_blocks_has_nothing_to_compare(tables_in, undisturbed, tmp_path):
    assert checked(tables_in(tmp_path / "c"), undisturbed.work) == Checked(0, 0, 0)
