"""The functions for plain tests: run_schedule replays a schedule, and minimal finds a shortest violation."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

from epochfuzz.harness import testing
from epochfuzz.harness.testing import NoSuchSchedule, minimal, run_schedule
from epochfuzz.model.kafka.vocabulary.configuration import ConfigurationError
from epochfuzz.model.kafka.vocabulary.events import EventError
from epochfuzz.model.kafka.vocabulary.protocols import ProtocolError

SHORTEST_LOSS = [
    "produce A", "fetch B", "receive B", "fetch B", "crash B", "restart B", "notify B", "elect B", "notify B",
]  # fmt: skip


def test_run_schedule_uses_the_named_protocol() -> None:
    assert run_schedule(SHORTEST_LOSS, "hw").first_broken["no-committed-loss"] == 9
    assert run_schedule(SHORTEST_LOSS, "kip-101").broken == []


def test_run_schedule_uses_the_named_settings() -> None:
    run = run_schedule(["produce A", "fetch C"], "kip-320", replicas=3, acks="1")
    assert [step.applied for step in run.steps] == [True, True]
    assert run.settings.acks == "1"


@pytest.mark.parametrize(
    ("events", "protocol", "settings", "error", "message"),
    [
        (["fetch Z"], "hw", {}, EventError, "unknown replica 'Z'"),
        (["produce A", "fetch C"], "hw", {}, EventError, "event 2 names replica C, but there are 2 replicas"),
        (["produce A"], "wh", {}, ProtocolError, "unknown protocol 'wh'"),
        (["produce A"], "hw", {"replicas": 9}, ConfigurationError, "replicas must be from 2 to 5"),
    ],
)
def test_run_schedule_rejects_an_unknown_event_protocol_or_configuration(
    events: list[str], protocol: str, settings: dict[str, int], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run_schedule(events, protocol, **settings)


def test_minimal_returns_a_shortest_schedule() -> None:
    assert minimal("hw", "no-committed-loss") == SHORTEST_LOSS


def test_minimal_accepts_settings_and_bounds() -> None:
    assert minimal("kip-320", "no-acked-loss", acks="1", records=1, epochs=1) == ["produce A", "elect B", "notify B"]


def test_minimal_raises_no_such_schedule_if_the_property_holds() -> None:
    with pytest.raises(NoSuchSchedule, match=r"kip-320 holds no-divergence: all [\d,]+ states within the bounds") as no:
        minimal("kip-320", "no-divergence", records=1, epochs=1)
    assert isinstance(no.value, AssertionError)


def test_minimal_rejects_an_unknown_property() -> None:
    with pytest.raises(ValueError, match=r"unknown property 'no-loss'; did you mean 'no-acked-loss'\?"):
        minimal("hw", "no-loss")


def test_the_examples_in_the_docstrings_are_right() -> None:
    result = doctest.testmod(testing)
    assert (result.attempted, result.failed) == (2, 0)


def test_run_schedule_imports_no_heavy_package() -> None:
    code = (
        "import sys; from harness.testing import run_schedule; run_schedule(['produce A'], 'hw');"
        " assert not {'numba', 'hypothesis', 'pyspark', 'rich'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=True, capture_output=True)
