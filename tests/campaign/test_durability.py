"""Nothing is lost: a campaign that was disturbed ends as one that was not."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.errors import PythonException

from epochfuzz.harness.campaign import campaign as campaigns
from epochfuzz.harness.campaign import waves
from epochfuzz.harness.campaign.campaign import Campaign
from epochfuzz.harness.campaign.directory import Directory
from epochfuzz.harness.campaign.errors import CampaignError, sentence

from .conftest import Quiet, block_rows, parameters, start

ROOT = Path(__file__).parents[2]

DRIVER = """
import sys
from epochfuzz.harness.campaign import session
from epochfuzz.harness.campaign.campaign import Campaign
from epochfuzz.harness.campaign.kinds import work_of_text
from tests.campaign.conftest import Quiet

with session.opened("local[2]") as spark:
    Campaign.start(spark, sys.argv[1], work_of_text(sys.argv[2])).run(Quiet())
"""


def waves_written(directory):
    return list(Path(directory).glob("blocks/wave=*/*.parquet"))


def driver(directory, asked):
    """A driver of its own, all of whose temporary files are beside the directory: once killed, it leaves them there."""
    command = [sys.executable, "-c", DRIVER, directory, asked.text()]
    beside = str(Path(directory).parent)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": beside, "SPARK_LOCAL_DIRS": beside}
    return subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)


def copied(undisturbed, directory, *left_out):
    shutil.copytree(undisturbed.directory.uri, directory, ignore=shutil.ignore_patterns("cases", *left_out))
    return str(directory)


def test_a_driver_killed_amid_a_wave_is_resumed_to_the_same_end(spark, undisturbed, tmp_path):
    directory = str(tmp_path / "c")
    process = driver(directory, undisturbed.parameters)
    try:
        deadline = time.monotonic() + 120
        while len(waves_written(directory)) < 2 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert len(waves_written(directory)) >= 2
    campaign = Campaign.load(spark, directory)
    with pytest.raises(CampaignError, match="is not finished; go on with `epochfuzz campaign resume"):
        campaign.outcome()
    outcome = campaign.run(Quiet())
    assert block_rows(campaign.directory) == block_rows(undisturbed.directory)
    assert outcome.findings == undisturbed.outcome.findings


def test_what_is_missing_of_a_campaign_is_walked_again(spark, undisturbed, tmp_path):
    directory = copied(undisturbed, tmp_path / "c", "outcome", "findings")
    first = min(waves_written(directory))
    first.rename(first.parent / "_temporary")  # as a wave looks whose driver was killed before it was committed
    campaign = Campaign.load(spark, directory)
    assert len(block_rows(campaign.directory)) < 40
    campaign.do_blocks(Quiet())
    assert block_rows(campaign.directory) == block_rows(undisturbed.directory)


def test_time_that_nobody_noted_is_taken_to_be_like_the_rest(spark, undisturbed, tmp_path):
    directory = copied(undisturbed, tmp_path / "c")
    notes = sorted(Path(directory).glob("waves/wave=*/*.parquet"))
    noted = undisturbed.directory.read("waves", waves.SCHEMA).agg({"seconds": "sum"}).collect()[0][0]
    assert undisturbed.outcome.seconds == pytest.approx(noted)
    notes[-1].unlink()
    campaign = Campaign.load(spark, directory)
    left = campaign.directory.read_rows("waves", waves.SCHEMA)
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


def test_resuming_a_finished_campaign_shows_it_again(spark, undisturbed, tmp_path):
    campaign = Campaign.load(spark, copied(undisturbed, tmp_path / "c"))
    assert campaign.run(Quiet()).findings == undisturbed.outcome.findings


def test_a_directory_that_holds_a_campaign_is_not_used_for_another(spark, undisturbed):
    with pytest.raises(CampaignError, match="already holds a campaign; go on with"):
        start(spark, undisturbed.directory.uri, parameters())


def test_a_directory_that_holds_none_cannot_be_resumed(spark, tmp_path):
    with pytest.raises(CampaignError, match="holds no campaign"):
        Campaign.load(spark, str(tmp_path))


def test_a_campaign_is_not_resumed_under_other_rules(spark, undisturbed, tmp_path, monkeypatch):
    unfinished = Campaign.load(spark, copied(undisturbed, tmp_path / "c", "outcome"))
    monkeypatch.setattr(campaigns, "model_digest", lambda: "0" * 16)
    with pytest.raises(CampaignError, match=r"was begun with model .* this is model 0000"):
        unfinished.run(Quiet())
    assert Campaign.load(spark, undisturbed.directory.uri).run(Quiet()).findings == undisturbed.outcome.findings


def test_a_worker_with_other_rules_ends_the_campaign(spark, tmp_path):
    campaign = start(spark, tmp_path / "c", parameters(model="0" * 16))
    with pytest.raises(PythonException) as failure:
        campaign.do_blocks(Quiet())
    assert "the campaign is of model 0000" in sentence(str(failure.value))


def test_a_directory_that_cannot_be_written_is_named(spark, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CampaignError, match="file/c cannot be written: "):
        start(spark, tmp_path / "file" / "c", parameters())


def test_a_file_system_that_spark_does_not_know_is_named(spark):
    with pytest.raises(CampaignError, match='nowhere://c cannot be read: No FileSystem for scheme "nowhere"'):
        start(spark, "nowhere://c", parameters())


def test_a_name_that_spark_would_take_for_a_pattern_is_refused(spark):
    with pytest.raises(CampaignError, match="patterns; choose another"):
        Directory(spark, "c[1]")
