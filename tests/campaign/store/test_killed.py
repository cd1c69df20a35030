"""A campaign that is killed several times produces the tables of an uninterrupted campaign, row for row."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PROTOCOLS = ("hw", "kip-101", "kip-279", "kip-320")
ASKED = [word for name in PROTOCOLS for word in ("--protocol", name)]
ASKED += ["--replicas", "3", "--schedules", "1000000", "--seed", "5"]
KEPT = ("findings", "situations", "outcome")


def campaign(*arguments):
    command = [
        sys.executable,
        "-c",
        "from harness.cli.main import main; main()",
        "campaign",
        *map(str, arguments),
        "--json",
    ]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )


def ended(running):
    out, _ = running.communicate(timeout=900)
    assert running.returncode in (0, 1)
    return json.loads(out)


def tables(directory):
    kept = {name: sorted(map(str, pq.read_table(directory / name).to_pylist())) for name in KEPT}
    blocks = pq.read_table(directory / "blocks").drop_columns(["worker", "memory", "wave", "again"]).to_pylist()
    return kept | {"blocks": sorted({str(row) for row in blocks})}


def kill_when(running, directory, waves):
    """Kill the driver, its JVM and its Python workers once this number of waves is written."""
    deadline = time.monotonic() + 300
    while len(list(directory.glob("blocks/wave=*/*.parquet"))) < waves and running.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(random.Random(waves).random())
    assert running.poll() is None, "the campaign was over before it could be killed"
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def test_a_campaign_that_is_killed_three_times_has_the_tables_of_an_uninterrupted_campaign(tmp_path):
    whole, killed, narrow = tmp_path / "whole", tmp_path / "killed", tmp_path / "narrow"
    expected = ended(campaign("run", "--out", whole, *ASKED))
    kill_when(campaign("run", "--out", killed, *ASKED), killed, 1)
    for waves in (3, 5):
        kill_when(campaign("resume", killed), killed, waves)
    resumed = ended(campaign("resume", killed))
    on_one_core = ended(campaign("run", "--out", narrow, "--master", "local[1]", *ASKED))
    for other in (resumed, on_one_core):
        for key in ("findings", "goals", "events", "schedules", "situations", "unreached", "estimate"):
            assert other[key] == expected[key], key
    assert tables(killed) == tables(whole) == tables(narrow)
    assert {each["protocol"] for each in expected["findings"]} == {"hw", "kip-101", "kip-279"}
