"""Fixtures for tests of campaigns: an undisturbed campaign, and the command on the shared Spark session."""

import shutil
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.run.kinds import work_of
from epochfuzz.harness.campaign.spark import session
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


class Quiet:
    def doing(self, what):
        pass

    def counted(self, counts, seconds):
        pass


def parameters(*, protocols=("hw",), seed=7, schedules=20_000, **others):
    return Parameters(
        protocols=tuple(map(parse_protocol, protocols)),
        settings=Configuration(),
        seed=seed,
        schedules=schedules,
        **others,
    )


def block_rows(directory):
    """Return the rows of the table of blocks, as they are on disk."""
    written = [row for part in LocalTables(directory.local).tables("blocks") for row in part.to_pylist()]
    rows = [{key: row[key] for key in row if key not in ("worker", "memory")} for row in written if not row["again"]]
    return sorted(rows, key=lambda row: row["first"])


def start(spark, directory, asked):
    """Start a campaign of random runs or of state machines."""
    return Campaign.start(spark, str(directory), work_of(asked.row()))


def copied(undisturbed, directory, *left_out):
    """Copy the directory of the undisturbed campaign without the tables `left_out`. Returns the copy."""
    shutil.copytree(undisturbed.directory.uri, directory, ignore=shutil.ignore_patterns("cases", *left_out))
    return str(directory)


def engine(asked):
    """Return the engine that runs the schedules of a campaign with these parameters."""
    work: Any = work_of(asked.row())
    return work.engine


@pytest.fixture(scope="session")
def undisturbed(spark, tmp_path_factory):
    asked = parameters(protocols=("kip-320", "hw"), block=500)
    campaign = start(spark, tmp_path_factory.mktemp("campaign") / "undisturbed", asked)
    outcome = campaign.run(Quiet())
    return SimpleNamespace(
        parameters=asked, work=campaign.work, directory=campaign.directory, tables=campaign.tables, outcome=outcome
    )


@pytest.fixture
def epochfuzz(epochfuzz, spark, monkeypatch):
    """Runs a command in this process, on the session that all tests share."""

    @contextmanager
    def opened(master=None, remote=None, temporary=None, memory=None):
        yield spark

    monkeypatch.setattr(session, "opened", opened)
    return epochfuzz
