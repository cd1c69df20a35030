"""A running adapter of a Kafka release, which plays the schedules of a test on Kafka and in the model."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.rerun import rerun
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.kafka import ladder
from tests.systems.jvm.build import missing


@dataclass(frozen=True)
class StartedRelease:
    """A release whose adapter runs, with the protocol of the model and the settings for its schedules."""

    release: str
    subject: CommandSubject
    protocol: str
    settings: Configuration

    def seen(self, schedule: str, refused: str = "") -> dict[str, Any]:
        """Play a schedule on Kafka and the model, and check that `refused` is not enabled. Returns what Kafka shows."""
        played = parse_schedule([*schedule.split(", "), *([refused] if refused else [])])
        case = Case("played", "", self.settings, played)
        assert rerun(self.subject, case, parse_protocol(self.protocol)).differs is None
        return self.shown(schedule, refused)

    def shown(self, schedule: str, refused: str = "") -> dict[str, Any]:
        """Play a schedule on Kafka alone, and check that `refused` is not enabled. Returns what Kafka shows."""
        self.subject.reset(wire.config_of(self.settings), self.protocol)
        assert [event for event in schedule.split(", ") if not self.subject.apply(event)] == []
        assert not refused or not self.subject.apply(refused)
        return dict(self.subject.observe())


@contextmanager
def started(release: str, protocol: str, settings: Configuration) -> Iterator[StartedRelease]:
    """Start the adapter of a release, and end it after the block. A missing toolchain skips the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(Path(__file__).parents[3])
        for lack in missing():
            pytest.skip(lack)
        with CommandSubject([sys.executable, "-m", "tests.conform.kafka", release], ladder.PATIENCE) as subject:
            yield StartedRelease(release, subject, protocol, settings)
