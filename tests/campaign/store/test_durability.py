"""An interrupted campaign produces the results of an uninterrupted campaign."""

import shutil
import socket
from functools import partial
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PythonException

from epochfuzz.harness.campaign.run import campaign as campaigns
from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.store import blocks
from epochfuzz.harness.campaign.store import directory as stores
from epochfuzz.harness.campaign.store.directory import CampaignDirectory
from epochfuzz.harness.campaign.store.errors import CampaignError, sentence
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.campaign.walks.cases import write
from epochfuzz.harness.cases.corpus import load_corpus
from tests.campaign.conftest import Quiet, block_rows, copied, parameters, start


def waves_written(directory):
    return list(Path(directory).glob("blocks/wave=*/*.parquet"))


class Dying(Quiet):
    """Interrupt the driver once this number of waves is written, while other waves run."""

    def __init__(self, waves):
        self._left = waves

    def counted(self, counts, seconds):
        self._left -= counts["schedules"] > 0
        if not self._left:
            raise KeyboardInterrupt


@pytest.mark.slow
def test_a_campaign_that_is_interrupted_within_a_wave_resumes_to_equal_blocks_and_findings(
    spark, undisturbed, tmp_path
):
    directory = str(tmp_path / "c")  # test_killed.py kills processes with SIGKILL
    with pytest.raises(KeyboardInterrupt):
        start(spark, directory, undisturbed.parameters).run(Dying(waves=2))
    assert len(waves_written(directory)) >= 2
    campaign = Campaign.load(spark, directory)
    with pytest.raises(CampaignError, match="is not finished; resume with `epochfuzz campaign resume"):
        campaign.outcome()
    assert len(block_rows(campaign.directory)) < 40
    outcome = campaign.run(Quiet())
    assert block_rows(campaign.directory) == block_rows(undisturbed.directory)
    assert outcome.findings == undisturbed.outcome.findings


@pytest.mark.thorough
def test_a_resumed_campaign_runs_missing_blocks_again(spark, undisturbed, tmp_path):
    directory = copied(undisturbed, tmp_path / "c", "outcome", "findings")
    first = min(waves_written(directory))
    first.rename(first.parent / "_temporary")  # like an uncommitted wave of a killed driver
    campaign = Campaign.load(spark, directory)
    assert len(block_rows(campaign.directory)) < 40
    campaign.do_blocks(Quiet())
    assert block_rows(campaign.directory) == block_rows(undisturbed.directory)


def test_the_duration_of_an_unrecorded_wave_is_estimated_from_the_other_waves(spark, undisturbed, tmp_path):
    directory = copied(undisturbed, tmp_path / "c")
    notes = sorted(Path(directory).glob("waves/wave=*/*.parquet"))
    noted = sum(row["seconds"] for row in undisturbed.tables.read_rows("waves", blocks.WAVES))
    assert undisturbed.outcome.seconds == pytest.approx(noted)
    notes[-1].unlink()
    campaign = Campaign.load(spark, directory)
    left = campaign.tables.read_rows("waves", blocks.WAVES)
    pace = sum(row["seconds"] for row in left) / sum(row["schedules"] for row in left)
    assert campaign.outcome().seconds == pytest.approx(20_000 * pace)
    for note in notes[:-1]:
        note.unlink()
    assert campaign.outcome().seconds > 0


def test_a_block_that_two_drivers_wrote_counts_once(spark, undisturbed, tmp_path):
    directory = copied(undisturbed, tmp_path / "c")
    wave = min(waves_written(directory)).parent
    shutil.copytree(wave, wave.with_name("wave=again"))
    assert Campaign.load(spark, directory).outcome().tally.schedules == 20_000


def test_resuming_a_finished_campaign_shows_its_findings_again(spark, undisturbed, tmp_path):
    campaign = Campaign.load(spark, copied(undisturbed, tmp_path / "c"))
    assert campaign.run(Quiet()).findings == undisturbed.outcome.findings


def test_a_campaign_does_not_start_in_a_directory_that_holds_another_campaign(spark, undisturbed):
    with pytest.raises(CampaignError, match="already holds a campaign; resume with"):
        start(spark, undisturbed.directory.uri, parameters())


def test_a_directory_without_a_campaign_cannot_be_resumed(spark, tmp_path):
    with pytest.raises(CampaignError, match="holds no campaign"):
        Campaign.load(spark, str(tmp_path))


def test_an_unfinished_campaign_does_not_resume_under_another_model(spark, undisturbed, tmp_path, monkeypatch):
    unfinished = Campaign.load(spark, copied(undisturbed, tmp_path / "c", "outcome"))
    monkeypatch.setattr(campaigns, "model_digest", lambda: "0" * 16)
    with pytest.raises(CampaignError, match=r"was begun with model .* this is model 0000"):
        unfinished.run(Quiet())
    assert Campaign.load(spark, undisturbed.directory.uri).run(Quiet()).findings == undisturbed.outcome.findings


def test_a_worker_with_another_model_ends_the_campaign(spark, tmp_path):
    campaign = start(spark, tmp_path / "c", parameters(model="0" * 16))
    with pytest.raises(PythonException) as failure:
        campaign.do_blocks(Quiet())
    assert "the campaign needs model 0000" in sentence(str(failure.value))


def test_the_error_names_a_directory_that_cannot_be_written(spark, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CampaignError, match="file/c cannot be written: "):
        start(spark, tmp_path / "file" / "c", parameters())


def test_the_error_names_a_file_system_that_spark_does_not_know(spark):
    message = (
        r'nowhere://c cannot be read: Spark has no connector for it \(No FileSystem for scheme "nowhere"\); add one'
    )
    with pytest.raises(CampaignError, match=message):
        start(spark, "nowhere://c", parameters())


def test_the_error_names_s3_storage_without_a_connector(spark):
    with pytest.raises(CampaignError, match="s3a://bucket/c cannot be read: Spark has no connector for it"):
        start(spark, "s3a://bucket/c", parameters())


def test_the_error_names_storage_that_does_not_respond_in_time(spark, monkeypatch):
    monkeypatch.setattr(stores, "_PATIENCE", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"hdfs://127.0.0.1:{silent.getsockname()[1]}/c"
        with pytest.raises(CampaignError, match=f"{uri} did not respond within 2 s; check the address"):
            start(spark, uri, parameters())


def test_a_directory_name_that_spark_reads_as_a_pattern_is_an_error(spark):
    with pytest.raises(CampaignError, match="patterns; choose another"):
        CampaignDirectory(spark, "c[1]")


@pytest.mark.parametrize("name", ["tonight#2", "tonight%232", "a b", "a:b", "100%", "file:x", "a\nb"])
def test_a_path_with_special_characters_is_used_literally(spark, undisturbed, tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    directory = CampaignDirectory(spark, name)
    assert directory.uri == str(directory.local) == str(tmp_path / name)
    directory.write_rows([undisturbed.work.row()], undisturbed.work.PARAMETERS, "parameters")
    write([], directory)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert sorted(path.name for path in (tmp_path / name).iterdir()) == ["cases", "parameters"]


@pytest.mark.parametrize("form", ["file:{}/a%20b#c", "file://{}/a%20b#c"])
def test_a_file_url_keeps_its_percent_encoding_as_in_spark(spark, undisturbed, tmp_path, form):
    directory = CampaignDirectory(spark, form.format(tmp_path))
    directory.write_rows([undisturbed.work.row()], undisturbed.work.PARAMETERS, "parameters")
    write([], directory)
    assert directory.local == tmp_path / "a%20b#c"
    assert sorted(path.name for path in directory.local.iterdir()) == ["cases", "parameters"]


@pytest.mark.parametrize("uri", ["s3a://bucket/x", "hdfs:/x", "hdfs://host:1/x"])
def test_a_directory_on_remote_storage_has_no_local_path(spark, uri):
    assert CampaignDirectory(spark, uri).uri == uri
    assert CampaignDirectory(spark, uri).local is None


def test_a_campaign_writes_no_case_to_a_directory_with_a_similar_name(spark, undisturbed, tmp_path):
    (tmp_path / "tonight" / "cases").mkdir(parents=True)
    (tmp_path / "tonight#2").mkdir()
    write(load_corpus([undisturbed.directory.local / "cases"]), CampaignDirectory(spark, str(tmp_path / "tonight#2")))
    assert list((tmp_path / "tonight" / "cases").iterdir()) == []
    assert "hw-no-committed-loss.yaml" in {path.name for path in (tmp_path / "tonight#2" / "cases").iterdir()}


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_directory_of_blocks_without_parameters_is_an_error(spark, undisturbed, tmp_path, is_gone):
    directory = copied(undisturbed, tmp_path / "c")
    for file in (Path(directory) / "parameters").iterdir():
        file.unlink()
    if is_gone:
        (Path(directory) / "parameters").rmdir()
    for begin in (Campaign.load, partial(Campaign.start, work=undisturbed.work)):
        with pytest.raises(CampaignError, match=r"c/parameters is missing or empty, but .*c/blocks has the blocks"):
            begin(spark, directory)


def test_a_parameters_table_without_a_row_is_an_error_if_there_are_blocks(spark, undisturbed, tmp_path):
    directory = copied(undisturbed, tmp_path / "c")
    CampaignDirectory(spark, directory).write_rows([], undisturbed.work.PARAMETERS, "parameters")
    with pytest.raises(CampaignError, match="c/parameters is missing or empty"):
        Campaign.load(spark, directory)


def test_loading_a_campaign_with_blocks_of_another_campaign_is_an_error(spark, undisturbed, tmp_path):
    other = start(spark, tmp_path / "other", parameters(seed=8))
    directory = copied(undisturbed, tmp_path / "c", "parameters")
    shutil.copytree(tmp_path / "other" / "parameters", Path(directory) / "parameters")
    refused = rf"c/blocks has blocks of campaign {undisturbed.work.campaign}, .* to campaign {other.work.campaign}"
    with pytest.raises(CampaignError, match=refused):
        Campaign.load(spark, directory)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"engine": "walks"}, "engine must be one of walk, hypothesis, conformance, tours, cluster; got 'walks'"),
        ({"engine": None}, "tours, cluster; got None"),
        ({"block": 0}, "block must be at least 1; got 0"),
        ({"block": None}, "block must have a value"),
        ({"schedules": -5}, "schedules must be at least 1; got -5"),
        ({"seconds": float("nan")}, "seconds must be more than 0; got nan"),
        ({"stable": 1.5}, "stable must be between 0 and 1; got 1.5"),
        ({"seed": -1}, "seed must be from 0 to 2**63 - 1; got -1"),
        ({"machine": "a:B"}, "machine must be absent without engine hypothesis; got 'a:B'"),
        ({"protocols": []}, "protocols is empty"),
        ({"protocols": ["kip-1"]}, "unknown protocol 'kip-1'"),
        ({"schedules": None}, "schedules, seconds and stable are all missing"),
        ({"colour": "red"}, "this version has no parameter colour"),
        ({"configuration": {"replicas": 9}}, "replicas must be from 2 to 5; got 9"),
        ({"configuration": {"replicas": 2, "racks": 3}}, "this version has no setting racks"),
        ({"version": "9.9", "colour": "red"}, "written by epochfuzz 9.9, but this is epochfuzz "),
    ],
)
def test_the_error_about_unusable_parameters_names_their_file_and_the_reason(undisturbed, tmp_path, changed, complaint):
    row = undisturbed.work.row() | changed
    place = tmp_path / "c" / "parameters"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([row]), place / "part.parquet")
    with pytest.raises(CampaignError, match="c/parameters cannot be used: ") as refused:
        assert LocalTables(tmp_path / "c").work
    assert complaint in str(refused.value)


def test_a_campaign_without_newer_parameters_can_be_loaded(spark, undisturbed, tmp_path):
    row = undisturbed.work.row()
    del row["stable"], row["machine"], row["configuration"]["records_per_fetch"]
    place = tmp_path / "c" / "parameters"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([row]), place / "part.parquet")
    assert cast(Any, Campaign.load(spark, str(tmp_path / "c")).work).parameters == undisturbed.parameters
