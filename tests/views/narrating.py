"""Helpers for tests of the narrative: run a schedule that is written as text, and return its scenes."""

from typing import Any

from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.harness.trace.scenes import Scene, narrate
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

COPIED = "produce A, fetch B, receive B"
COMMITTED = f"{COPIED}, fetch B, receive B"


def run(schedule: str, protocol: str = "hw", **configuration: Any) -> Run:
    return replay(parse_schedule(schedule.split(", ")), parse_protocol(protocol), Configuration(**configuration))


def scenes(schedule: str, protocol: str = "hw", **configuration: Any) -> tuple[Scene, ...]:
    return narrate(run(schedule, protocol, **configuration))


def last_sentence(schedule: str, protocol: str = "hw", **configuration: Any) -> str:
    return scenes(schedule, protocol, **configuration)[-1].sentence
