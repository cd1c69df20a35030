"""After all faults have stopped in KRaft, a restarted broker registers, learns all updates, and is unfenced."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from epochfuzz.harness.conform.oracle import healing
from epochfuzz.harness.conform.oracle.lockstep import comparable
from epochfuzz.harness.conform.oracle.seen import SeenPartition
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS, parse_event, parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


class ModelAsSubject:
    """The model as an adapter."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self.applied: list[str] = []

    def apply(self, event: str) -> bool:
        is_applied = self._execution.apply(parse_event(event))
        self.applied += [event] if is_applied else []
        return is_applied

    def observe(self) -> dict[str, Any]:
        return comparable(self._execution.state)


@pytest.mark.parametrize("protocol", ["kip-841", "kip-966", "kafka-3.9.1", "kip-320"])
@pytest.mark.parametrize(
    "schedule", ["produce A, crash B", "crash A, restart A", "crash B, crash A, restart B", "shutdown B, restart B"]
)
def test_after_all_faults_stop_every_broker_is_unfenced_and_knows_the_leader(protocol: str, schedule: str) -> None:
    settings = Configuration()
    execution = Execution(parse_protocol(protocol), settings)
    for event in schedule.split(", "):
        execution.apply(parse_event(event))
    setting = SimpleNamespace(settings=settings, alphabet=execution.alphabet)
    subject = ModelAsSubject(execution)
    healed = healing.heal(cast(Any, subject), cast(Any, setting), VERBS)
    assert list(healed.events) == subject.applied
    p = execution.state
    leader = p.decided_leader[p.controller_epoch]
    assert (p.fenced, [p.known_leader[r] for r in range(2)]) == (0, [leader, leader])


LOST = ["produce A", "fetch B", "receive B", "fetch B", "power_loss B", "restart B"]


@pytest.mark.parametrize(("protocol", "broken"), [("kafka-3.3", []), ("kafka-2.1.1", ["isr-complete"])])
def test_a_restarted_broker_without_its_log_is_checked_after_its_registration(protocol: str, broken: list[str]) -> None:
    run = replay(parse_schedule(LOST), parse_protocol(protocol), Configuration(power_loss=True))
    seen = SeenPartition(run.settings, run.protocol)
    for step in run.steps:
        shown: Any = observe(step.state)
        seen.show(shown, step.event)
    assert properties.names(seen.broken()) == broken == list(run.first_broken)
