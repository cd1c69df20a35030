"""A campaign can run in processes of this machine, with the results that it has on Spark."""

import inspect
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.jobs.processes import ProcessPool
from tests.campaign.conftest import Quiet, block_rows, copied, parameters, start
from tests.campaign.elections import Elections
from tests.processes import processes_with

ARCHITECTURE = Path(__file__).parents[3] / "ARCHITECTURE.md"
OF_THE_RUN = ("worker", "memory")  # columns about the process of a block


@pytest.fixture(scope="module")
def processes():
    with ProcessPool(2) as opened:
        yield opened


def rows_in(tables, table):
    rows = [{key: row[key] for key in row if key not in OF_THE_RUN} for row in tables.read_rows_as_they_are(table)]
    return sorted(rows, key=repr)


def test_a_local_campaign_has_the_tables_of_a_campaign_on_spark(processes, undisturbed, tmp_path):
    campaign = start(processes, tmp_path / "c", undisturbed.parameters)
    assert campaign.run(Quiet()).findings == undisturbed.outcome.findings
    for table in ("parameters", "blocks", "findings", "situations", "outcome"):
        assert rows_in(campaign.tables, table) == rows_in(undisturbed.tables, table), table


def test_local_processes_resume_a_campaign_that_spark_began(processes, undisturbed, tmp_path):
    directory = copied(undisturbed, tmp_path / "c", "outcome", "findings", "situations")
    shutil.rmtree(min(Path(directory).glob("blocks/wave=*")))
    campaign = Campaign.load(processes, directory)
    assert campaign.run(Quiet()).findings == undisturbed.outcome.findings
    assert block_rows(campaign.directory) == block_rows(undisturbed.directory)


@pytest.mark.thorough
def test_spark_resumes_a_campaign_that_local_processes_began(spark, processes, undisturbed, tmp_path):
    begun = start(processes, tmp_path / "c", undisturbed.parameters)
    begun.do_blocks(Quiet())
    shutil.rmtree(max((tmp_path / "c").glob("blocks/wave=*")))
    resumed = Campaign.load(spark, str(tmp_path / "c"))
    assert resumed.run(Quiet()).findings == undisturbed.outcome.findings
    assert block_rows(resumed.directory) == block_rows(undisturbed.directory)


def test_a_local_campaign_with_a_time_limit_runs_consecutive_schedules_from_the_first_on(processes, tmp_path):
    campaign = start(processes, tmp_path / "c", parameters(schedules=None, seconds=0.5, block=100))
    campaign.do_blocks(Quiet())
    numbers = campaign.tables.numbers().tolist()
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= 2


def test_an_interrupted_local_campaign_keeps_the_blocks_that_have_finished(processes, tmp_path):
    class Interrupting(Quiet):
        def counted(self, counts, seconds):
            if counts["schedules"] >= 300:
                raise KeyboardInterrupt

    campaign = start(processes, tmp_path / "c", parameters(schedules=20_000, block=100))
    with pytest.raises(KeyboardInterrupt):
        campaign.do_blocks(Interrupting())
    assert campaign.tables.counts(["schedules"])["schedules"] >= 300


@pytest.mark.parametrize("platform", ["local processes", pytest.param("Spark", marks=pytest.mark.thorough)])
def test_the_job_that_architecture_shows_runs_on_each_platform(platform, processes, request, tmp_path):
    where = processes if platform == "local processes" else request.getfixturevalue("spark")
    outcome = Campaign.start(where, str(tmp_path / "c"), Elections(seed=1, blocks=70)).run(Quiet())
    assert outcome == {"elections": 13_818, "most": 81, "schedule": 238}


def test_architecture_shows_the_whole_class_of_the_job():
    _, _, shown = Path(inspect.getfile(Elections)).read_text().partition("@dataclass\n")
    assert f"```python\n@dataclass\n{shown}```" in ARCHITECTURE.read_text()
    assert shown.count("\n") < 40


def test_a_campaign_of_a_job_that_this_process_has_not_imported_is_not_loaded(processes, tmp_path, monkeypatch):
    Campaign.start(processes, str(tmp_path / "c"), Elections())
    monkeypatch.delitem(sys.modules, Elections.__module__)
    with pytest.raises(CampaignError, match="engine must be one of walk, hypothesis"):
        Campaign.load(processes, str(tmp_path / "c"))
    assert Elections.__module__ not in sys.modules


@pytest.mark.slow
def test_a_killed_local_campaign_leaves_no_process_and_resumes_to_equal_tables(tmp_path):
    command = [sys.executable, "-m", "epochfuzz", "campaign"]
    asked = ["--schedules", "400000", "--seed", "7", "--certify", "0", "--jobs", "2"]
    subprocess.run([*command, "run", "--out", tmp_path / "whole", *asked], check=False, capture_output=True)
    for number, killed in enumerate((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)):
        out = tmp_path / f"c{number}"
        run = subprocess.Popen(
            [*command, "run", "--out", out, *asked], env=os.environ | {"EPOCHFUZZ_RUN": str(tmp_path)}
        )
        time.sleep(5 + number)
        run.send_signal(killed)
        run.wait(20)
        time.sleep(2)
        assert processes_with("EPOCHFUZZ_RUN", str(tmp_path)) == {}
        subprocess.run([*command, "resume", out, "--jobs", "2", "--certify", "0"], check=False, capture_output=True)
        for table in ("blocks", "findings", "outcome"):
            assert rows_in(LocalTables(out), table) == rows_in(LocalTables(tmp_path / "whole"), table)
