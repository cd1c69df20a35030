"""epochfuzz reads campaigns on this machine without Spark, even unfinished campaigns, and names damaged files."""

import hashlib
import os
import shutil
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.run.job import text_of
from epochfuzz.harness.campaign.run.status import CampaignState, status_of
from epochfuzz.harness.campaign.spark.spark_runner import SparkRunner
from epochfuzz.harness.campaign.spark.spark_tables import SparkTables
from epochfuzz.harness.campaign.store.errors import CampaignError, NonDeterminismError
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.campaign.store.location import held
from epochfuzz.harness.campaign.walks.walk_job import Walks
from tests.campaign.conftest import Quiet, block_rows, copied, parameters, start


def assert_same(kept, by_spark):
    for name in ("events", "failures", "goals", "shortest"):
        np.testing.assert_array_equal(getattr(kept.tally, name), getattr(by_spark.tally, name), err_msg=name)
    for one, other in zip(kept.tally.met, by_spark.tally.met, strict=True):
        np.testing.assert_array_equal(astuple(one), astuple(other))
    assert kept.tally.schedules == by_spark.tally.schedules
    bare = {"tally": None, "engine": None, "seconds": 0.0}
    assert replace(kept, **bare) == replace(by_spark, **bare)
    assert kept.seconds == pytest.approx(by_spark.seconds)


def walks(kept: LocalTables) -> Walks:
    assert isinstance(kept.work, Walks)
    return kept.work


def flip_a_byte(file):
    """Flip a bit a third of the way into the file, in the pages of Parquet and not in its metadata."""
    data = bytearray(file.read_bytes())
    data[len(data) // 3] ^= 1
    file.write_bytes(data)


def files(directory, table):
    return sorted(file for file in Path(directory, table).rglob("*.parquet"))


@pytest.mark.thorough
def test_spark_and_pyarrow_read_equal_outcomes_with_a_lost_wave_and_a_duplicate_wave(
    spark, undisturbed, tmp_path, monkeypatch
):
    directory = copied(undisturbed, tmp_path / "c")
    first, second, *_ = sorted(Path(directory).glob("blocks/wave=*"))
    shutil.rmtree(first)
    shutil.copytree(second, second.with_name("wave=again"))
    kept = LocalTables(Path(directory))
    outcome = walks(kept).outcome_of(kept)
    assert 0 < outcome.tally.schedules < 20_000
    assert outcome.checked.blocks > 0
    of_spark = property(lambda runner: runner.directory)
    monkeypatch.setattr(SparkRunner, "tables", of_spark)  # as for a campaign on remote storage
    assert_same(outcome, Campaign.load(spark, directory).outcome())


def test_the_status_of_an_unfinished_campaign_has_its_findings_so_far(undisturbed, tmp_path):
    directory = Path(copied(undisturbed, tmp_path / "c", "outcome", "findings"))
    status = status_of(LocalTables(directory))
    assert status.state is CampaignState.UNFINISHED
    assert (status.begun, status.so_far.counts["schedules"]) == (undisturbed.outcome.begun, 20_000)
    seen = {(found.protocol, found.property): found.seen for found in status.so_far.found}
    assert seen == {(found.protocol.name, found.property): found.seen for found in undisturbed.outcome.findings}
    assert not any(found.is_shrunk for found in status.so_far.found)
    assert status.so_far.estimate == undisturbed.outcome.estimate
    assert {name: len(met) for name, met in status.so_far.met.items()} == {
        protocol.name: len(met.situations)
        for protocol, met in zip(undisturbed.parameters.protocols, undisturbed.outcome.tally.met, strict=True)
    }
    with held(directory):
        assert status_of(LocalTables(directory)).state is CampaignState.RUNNING


def test_the_status_of_a_finished_campaign_has_the_shrunk_findings(undisturbed):
    status = status_of(LocalTables(undisturbed.directory.local))
    assert status.state is CampaignState.FINISHED
    assert status.seconds_remaining is None
    assert [(found.length, found.is_shrunk) for found in status.so_far.found] == [
        (len(found.reproducer.schedule), True) for found in undisturbed.outcome.findings
    ]


def test_a_campaign_with_nothing_but_parameters_has_no_schedules_and_no_findings(spark, tmp_path):
    start(spark, tmp_path / "c", parameters(schedules=None, seconds=60.0))
    status = status_of(LocalTables(tmp_path / "c"))
    assert (status.state, status.so_far.counts["schedules"], status.so_far.found) == (CampaignState.UNFINISHED, 0, ())
    assert (status.seconds, status.seconds_remaining) == (0.0, None)


def test_reading_a_block_with_two_different_results_without_spark_is_an_error(undisturbed, tmp_path):
    directory = copied(undisturbed, tmp_path / "c")
    for file in files(directory, "blocks"):
        rows = pq.read_table(file, partitioning=None)
        other = rows["again"].cast(pa.string())
        pq.write_table(rows.set_column(rows.column_names.index("digest"), "digest", other), file)
    kept = LocalTables(Path(directory))
    for read in (kept.work.so_far, walks(kept).outcome_of):
        with pytest.raises(NonDeterminismError, match="begins with schedule 0 gave different results on two workers"):
            read(kept)


def test_reading_a_directory_without_a_campaign_or_with_foreign_blocks_is_an_error(spark, undisturbed, tmp_path):
    with pytest.raises(CampaignError, match="holds no campaign"):
        assert LocalTables(tmp_path).work
    start(spark, tmp_path / "other", parameters(seed=8))
    directory = copied(undisturbed, tmp_path / "c", "parameters")
    shutil.copytree(tmp_path / "other" / "parameters", Path(directory) / "parameters")
    with pytest.raises(CampaignError, match="has blocks of campaign"):
        assert LocalTables(Path(directory)).work


@pytest.mark.parametrize("reader", ["with Spark", "without Spark"])
def test_the_error_about_blocks_without_numbers_says_which_epochfuzz_can_read_them(
    spark, undisturbed, tmp_path, reader
):
    directory = Path(copied(undisturbed, tmp_path / "c"))
    for file in files(directory, "blocks"):
        pq.write_table(pq.read_table(file, partitioning=None).drop_columns(["block_number"]), file)
        file.with_name(f".{file.name}.crc").unlink()  # the checksum that Spark wrote
    tables = LocalTables(directory) if reader == "without Spark" else SparkTables(spark, str(directory))
    with pytest.raises(CampaignError, match=r"without numbers.*; use the epochfuzz that began the campaign"):
        tables.refuse_foreign(undisturbed.work)


def test_blocks_of_a_campaign_without_newer_parameters_still_belong_to_the_campaign(undisturbed, tmp_path):
    directory = Path(copied(undisturbed, tmp_path / "c"))
    row = undisturbed.work.row()
    del row["stable"], row["configuration"]["records_per_fetch"]
    (parameters_file,) = files(directory, "parameters")
    pq.write_table(pa.Table.from_pylist([row]), parameters_file)
    campaign = hashlib.sha256(text_of(row, "walk").encode()).hexdigest()[:16]
    for file in files(directory, "blocks"):
        rows = pq.read_table(file, partitioning=None)
        at = rows.column_names.index("campaign")
        pq.write_table(rows.set_column(at, "campaign", pa.array([campaign] * len(rows))), file)
    kept = LocalTables(directory)
    assert walks(kept).outcome_of(kept).findings == undisturbed.outcome.findings


@pytest.mark.thorough
def test_a_damaged_wave_is_named_and_runs_again_after_its_removal(spark, undisturbed, tmp_path):
    directory = copied(undisturbed, tmp_path / "c")
    damaged = files(directory, "blocks")[0]
    flip_a_byte(damaged)
    with pytest.raises(CampaignError) as refused:
        Campaign.load(spark, directory)
    ends = [f"{directory}/{name}" for name in ("findings", "situations", "outcome")]
    assert str(refused.value).startswith(f"{damaged} is damaged (")
    assert f"remove {damaged.parent} and {' and '.join(ends)}, and resume with `epochfuzz campaign resume" in str(
        refused.value
    )
    for place in (damaged.parent, *ends):
        shutil.rmtree(place)
    campaign = Campaign.load(spark, directory)
    campaign.do_blocks(Quiet())
    assert block_rows(campaign.directory) == block_rows(undisturbed.directory)


@pytest.mark.parametrize(
    ("table", "remedy"),
    [
        ("parameters", "no other file has the campaign's parameters"),
        ("waves", "only the duration of the wave is lost"),
        ("outcome", "epochfuzz computes its end again"),
    ],
)
@pytest.mark.parametrize("how", ["flipped", "truncated"])
def test_the_error_about_a_damaged_table_names_the_file_and_the_remedy(
    spark, undisturbed, tmp_path, table, remedy, how
):
    directory = copied(undisturbed, tmp_path / "c")
    damaged = files(directory, table)[0]
    if how == "truncated":
        os.truncate(damaged, 50)
    else:
        flip_a_byte(damaged)
    with pytest.raises(CampaignError) as refused:
        Campaign.load(spark, directory)
    said = (f"{damaged} is damaged (", f"{Path(directory, table)} cannot be used: ")  # the second for a column name
    assert str(refused.value).startswith(said)
    assert remedy in str(refused.value)


def test_only_one_process_at_a_time_holds_a_campaign_directory(tmp_path):
    with held(tmp_path / "a" / "c") as temporary:
        assert temporary == tmp_path / "a" / "c" / "temporary"
        with pytest.raises(CampaignError, match="another process works on"), held(tmp_path / "a" / "c"):
            pass
        assert temporary.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_the_next_process_removes_the_temporary_files_of_a_killed_process(tmp_path):
    (tmp_path / "temporary" / "blockmgr").mkdir(parents=True)
    (tmp_path / "parameters").mkdir()
    with held(tmp_path) as temporary:
        assert list(temporary.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["parameters"]
