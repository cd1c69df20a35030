"""Campaigns on executors of their own, which share no Python files with the driver."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import fuzz
from harness.campaign import findings

from .conftest import parameters

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

DRIVER = """
import json, sys
from harness.campaign import findings, session
from harness.campaign.campaign import Campaign
from harness.campaign.parameters import Parameters
from tests.campaign.conftest import Quiet

directory, text, master = sys.argv[1:]
with session.opened(master) as spark:
    outcome = Campaign.start(spark, directory, Parameters.from_text(text)).run(Quiet())
print(json.dumps([findings.row(finding) for finding in outcome.findings]))
"""


def test_executors_of_their_own_find_what_fuzz_finds(tmp_path):
    asked = parameters(block=5_000)
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "c"), asked.text(), "local-cluster[2,1,1024]"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    walker = asked.walker()
    found = fuzz.findings(walker, walker.walk(0, asked.schedules), candidates=fuzz.MOST_CANDIDATES)
    assert json.loads(ended.stdout) == [findings.row(finding) for finding in found]
