"""Schedules on RocketMQ's own code. One process replays each schedule twice, and both results must be the same."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from tests.systems.jvm.build import missing
from tests.systems.matrix import PATIENCE, Replays
from tests.systems.rocketmq.build import VERSIONS, system_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
CASES = {case.id: case for case in load_corpus([ROOT / "corpus"])}
THEIRS = [case for case in CASES.values() if any(name.startswith("rocketmq-") for name in case.systems)]
MEMORY = Path("/dev/shm")


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for lack in missing():
        pytest.skip(lack)


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def newest() -> Iterator[CommandSubject]:
    with CommandSubject([sys.executable, "-m", "tests.systems.rocketmq", VERSIONS[-1]], PATIENCE) as subject:
        yield subject


def first_broken(version: str, case: Case) -> dict[str, int]:
    (sight,) = Replays(system_of(version)).of([case])
    assert not sight.complaints
    return sight.rerun.first_broken


def test_every_case_of_its_own_is_as_it_says(version):
    sights = list(Replays(system_of(version)).of(THEIRS))
    assert len(sights) == len(THEIRS) >= 5
    assert {sight.case.id: sight.complaints for sight in sights if sight.complaints} == {}


def test_a_slave_that_is_cut_off_loses_what_is_acknowledged_since_5_4_0():
    case = CASES["kip-497-shrink-counted-early"]
    assert first_broken("5.3.3", case) == {}
    assert first_broken("5.4.0", case) == {"isr-complete": 2, "no-committed-loss": 4, "no-acked-loss": 4}
    assert first_broken("5.5.1", case) == {"isr-complete": 2, "no-committed-loss": 4, "no-acked-loss": 4}


def test_two_epochs_that_begin_at_one_offset_are_taken_for_one_by_each_release(version):
    broken = first_broken(version, CASES["rocketmq-epochs-taken-for-one"])
    assert (broken["log-matching"], broken["no-acked-loss"]) == (4, 11)


def play(subject: CommandSubject, *events: str, **settings: Any) -> dict[str, Any]:
    subject.reset(wire.config_of(Configuration(**settings)), "kip-497")
    assert [event for event in events if not subject.apply(event)] == []
    return dict(subject.observe())


def test_a_producer_is_answered_when_all_that_are_in_sync_have_reported(newest):
    before = play(newest, "produce A", "fetch B", "receive B")
    assert before["producers"]["acked"] == []
    after = play(newest, "produce A", "fetch B", "receive B", "fetch B")
    assert after["producers"]["acked"] == ["m0"]
    assert after["replicas"]["B"]["log"] == [("m0", 0)]


def test_a_slave_that_comes_back_is_let_in_by_the_controller(newest):
    seen = play(newest, "shrink B", "alter A", "altered A", "fetch B", "receive B", "fetch B", "alter A")
    assert seen["controller"]["isr"] == ["A", "B"]
    assert seen["replicas"]["A"]["isr"] == ["A"]


def test_a_master_with_too_few_replicas_in_sync_refuses(newest):
    newest.reset(wire.config_of(Configuration(min_insync_replicas=2)), "kip-497")
    assert [newest.apply(event) for event in ("shrink B", "alter A", "altered A", "produce A")] == [True] * 3 + [False]


def test_what_it_cannot_do_it_says(newest):
    with pytest.raises(SubjectUnable, match="acks=all only"):
        newest.reset(wire.config_of(Configuration(acks="1")), "kip-497")


def test_nothing_is_left_in_memory_of_a_process_that_ends():
    before = set(MEMORY.glob("conform-rocketmq-*"))
    with CommandSubject([sys.executable, "-m", "tests.systems.rocketmq"], PATIENCE) as subject:
        play(subject, "produce A", "crash B", "restart B")
        subject.finish()
    assert set(MEMORY.glob("conform-rocketmq-*")) <= before


def test_what_a_process_that_was_killed_leaves_in_memory_goes_when_the_next_one_starts():
    with CommandSubject([sys.executable, "-m", "tests.systems.rocketmq"], PATIENCE) as subject:
        play(subject, "produce A")
        (left,) = set(MEMORY.glob("conform-rocketmq-*"))
        os.kill(int(left.name.removeprefix("conform-rocketmq-")), signal.SIGKILL)
    assert left.exists()
    with CommandSubject([sys.executable, "-m", "tests.systems.rocketmq"], PATIENCE) as subject:
        play(subject, "produce A")
        assert not left.exists()
