"""A campaign of tours: every transition within bounds, shared out, comes to what it comes to in one process."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.campaign.conformance.tours_work import Tours
from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.run.kinds import work_of
from epochfuzz.harness.campaign.run.status import State, status_of
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.campaign.store.kept import Kept
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.campaign.conftest import Quiet
from tests.conform.running import REFERENCE, ROOT, SUBJECT

N = 2_700
DEFECTIVE = (*SUBJECT, "--defect", "shrinking-does-not-advance")
WRONG = (sys.executable, "-m", "tests.conform.wrong")
SMALL = ("--exhaustive", "--epochs", "1", "--processes-for", "200", "--certify", "0", "--json")


def exhaust(epochfuzz: Any, *words: str, subject: tuple[str, ...] = DEFECTIVE) -> Any:
    ended = epochfuzz("conform", *SMALL, *words, "--", *subject)
    assert ended.code in (0, 1), ended.err
    return ended


def told(ended: Any) -> dict[str, Any]:
    """What a run says in JSON, but for times and how it was called."""
    others = ("seconds", "steps_per_second", "reproduce")
    return {name: value for name, value in ended.json.items() if name not in others}


@pytest.fixture
def beside(monkeypatch):
    """Subjects are found from the root of the repository, wherever workers are."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture(scope="module")
def finished(spark, tmp_path_factory):
    """The directory of a campaign that ran undisturbed, and what was done."""
    directory = tmp_path_factory.mktemp("tours") / "finished"
    return directory, Campaign.start_or_load(spark, str(directory), tours()).run(Quiet())


def tours(refused: bool = False) -> Tours:
    settings = Configuration(replicas=2, records=1, epochs=1)
    return Tours(Plan(DEFECTIVE, [parse_protocol("kip-320")], settings, 0, 0, processes_for=200), refused)


def test_it_comes_to_what_one_process_comes_to_and_shows_it_again(epochfuzz, beside, tmp_path):
    here = exhaust(epochfuzz)
    there = exhaust(epochfuzz, "--campaign", "c")
    assert here.json["transitions"]["differing"] > 0
    assert told(there) == told(here)
    assert here.json["findings"][0]["events"] == ["produce A", "shrink B"]
    assert f"--exhaustive --campaign c -- {DEFECTIVE[0]}" in there.json["reproduce"]
    again = exhaust(epochfuzz, "--campaign", "c")
    assert told(again) == told(here)
    assert len(list(Path("c", "subject").glob("*.parquet"))) == 1
