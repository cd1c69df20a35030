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


def test_rocketmq_has_the_expected_results_for_its_cases(version):
    sights = list(Replays(system_of(version)).of(THEIRS))
    assert len(sights) == len(THEIRS) >= 5
    assert {sight.case.id: sight.complaints for sight in sights if sight.complaints} == {}


def test_rocketmq_loses_acknowledged_records_after_an_early_shrink_since_5_4_0():
    case = CASES["kip-497-shrink-counted-early"]
    assert first_broken("5.3.3", case) == {}
    assert first_broken("5.4.0", case) == {"isr-complete": 2, "no-committed-loss": 4, "no-acked-loss": 4}
    assert first_broken("5.5.1", case) == {"isr-complete": 2, "no-committed-loss": 4, "no-acked-loss": 4}


def test_each_rocketmq_release_confuses_two_epochs_that_begin_at_equal_offsets(version):
    broken = first_broken(version, CASES["rocketmq-epochs-taken-for-one"])
    assert (broken["log-matching"], broken["no-acked-loss"]) == (4, 11)


def play(subject: CommandSubject, *events: str, **settings: Any) -> dict[str, Any]:
    subject.reset(wire.config_of(Configuration(**settings)), "kip-497")
    assert [event for event in events if not subject.apply(event)] == []
    return dict(subject.observe())


def test_rocketmq_acknowledges_a_record_once_all_in_sync_replicas_have_reported(newest):
    before = play(newest, "produce A", "fetch B", "receive B")
    assert before["producers"]["acked"] == []
    after = play(newest, "produce A", "fetch B", "receive B", "fetch B")
    assert after["producers"]["acked"] == ["m0"]
    assert after["replicas"]["B"]["log"] == [("m0", 0)]


def test_the_rocketmq_controller_adds_a_returning_slave_to_the_isr(newest):
    seen = play(newest, "shrink B", "alter A", "altered A", "fetch B", "receive B", "fetch B", "alter A")
    assert seen["controller"]["isr"] == ["A", "B"]
    assert seen["replicas"]["A"]["isr"] == ["A"]


def test_a_rocketmq_master_with_too_few_replicas_in_sync_rejects_a_record(newest):
    newest.reset(wire.config_of(Configuration(min_insync_replicas=2)), "kip-497")
    assert [newest.apply(event) for event in ("shrink B", "alter A", "altered A", "produce A")] == [True] * 3 + [False]


def test_the_rocketmq_adapter_rejects_acks_1(newest):
    with pytest.raises(SubjectUnable, match="acks=all only"):
        newest.reset(wire.config_of(Configuration(acks="1")), "kip-497")


def test_a_rocketmq_process_that_ends_leaves_nothing_in_shared_memory():
    before = set(MEMORY.glob("conform-rocketmq-*"))
    with CommandSubject([sys.executable, "-m", "tests.systems.rocketmq"], PATIENCE) as subject:
        play(subject, "produce A", "crash B", "restart B")
        subject.finish()
    assert set(MEMORY.glob("conform-rocketmq-*")) <= before


def test_the_next_rocketmq_process_removes_the_shared_memory_of_a_killed_process():
    with CommandSubject([sys.executable, "-m", "tests.systems.rocketmq"], PATIENCE) as subject:
        play(subject, "produce A")
        (left,) = set(MEMORY.glob("conform-rocketmq-*"))
        os.kill(int(left.name.removeprefix("conform-rocketmq-")), signal.SIGKILL)
    assert left.exists()
    with CommandSubject([sys.executable, "-m", "tests.systems.rocketmq"], PATIENCE) as subject:
        play(subject, "produce A")
        assert not left.exists()
