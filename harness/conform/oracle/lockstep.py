"""Lock-step: after every event the subject must look as the model does, field by field."""

from collections.abc import Iterable
from typing import Any

from epochfuzz.harness.cases.verdict import differences
from epochfuzz.harness.conform.oracle.fault import Fault, Kind
from epochfuzz.harness.conform.oracle.met import Meeting
from epochfuzz.harness.conform.protocol.wire import Observation
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract.observation import CONSUMER, CONTROLLER, PRODUCERS, REPLICA, Seen, observe
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, Effect, replica_of, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, REFUSALS
from epochfuzz.model.kafka.vocabulary.state import NONE, Partition


class LockStep:
    """Runs the model along.

    Of the events that the model refuses in one state only the first is sent: drawn schedules are mostly such events,
    and one at a time is enough to see whether the subject refuses as well. `every_refusal`: all of them are.
    """

    goes_on = False

    def __init__(self, protocol: Protocol, settings: Configuration, *, every_refusal: bool = False) -> None:
        self._execution = Execution(protocol, settings)
        self._every_refusal = every_refusal
        self._applied = True
        self.meeting = Meeting()
        self._uninformed: set[str] = set()

    @property
    def model(self) -> Partition:
        """The state that the model is in."""
        state: Partition = self._execution.state
        return state

    def advance(self, event: int) -> bool:
        """Apply the event to the model, and say whether to send it to the subject."""
        refusal = REFUSALS[self._execution.attempt(event)]
        if refusal.is_bound:  # which is the harness's business, and a subject knows nothing of
            return False
        state_is_new = self._applied
        self._applied = refusal is APPLIED
        if self._applied:
            self._note_restart(event)
        is_sent = self._applied or state_is_new or self._every_refusal
        if is_sent:
            self.meeting.note(event, refusal, int(self.model.goals))
        return is_sent

    def judge(self, event: int, applied: bool, observation: Observation) -> list[Fault]:
        """Return the first field that differs, if any does."""
        if applied != self._applied:
            return [Fault(Kind.DIFFERENCE, "applied", self._applied, applied)]
        expected = beside(self.model, observation)
        if observation == expected:
            return []
        return self._first_difference(observation, expected)

    def compared(self, observation: Observation) -> dict[str, Any]:
        """Return the fields of an observation that mean something now, in the order in which they are compared."""
        shown = ordered(observation, self.model)
        for name in self._uninformed & shown["replicas"].keys():
            shown["replicas"][name].pop("leader_epoch", None)  # the model notes here which decision comes next
        return shown

    def _note_restart(self, event: int) -> None:
        """Keep the set of replicas that have learned no decision since they restarted."""
        name, effect = REPLICA_NAMES[replica_of(event)], verb_of(event).effect
        if effect is Effect.STARTS:
            self._uninformed.add(name)
        elif effect is not None:
            self._uninformed.discard(name)

    def _first_difference(self, observation: Observation, expected: dict[str, Any]) -> list[Fault]:
        shown = self.compared(observation)
        for name, replica in shown["replicas"].items():
            if name not in expected["replicas"]:
                return [Fault(Kind.DIFFERENCE, f"replicas.{name}", None, replica)]
        for where, observed, wanted in differences(shown, expected):
            return [Fault(Kind.DIFFERENCE, ".".join(where), wanted, observed)]
        return []


def comparable(p: Partition) -> dict[str, Any]:
    """Return the model's observation, in the types in which a subject's is parsed."""
    observation = observe(p)
    for replica in observation["replicas"].values():
        replica["log"] = [tuple(entry) for entry in replica["log"]]
        replica["epochs"] = [tuple(entry) for entry in replica["epochs"]]
    return observation


def beside(p: Partition, observation: Observation) -> dict[str, Any]:
    """Return what an observation is held against: `comparable`, and what producers were told if it shows that."""
    told = {"producers": {seen.name: seen.value(p, NONE) for seen in PRODUCERS}} if "producers" in observation else {}
    return comparable(p) | told


def ordered(observation: Observation, p: Partition) -> dict[str, Any]:
    """Return the fields of an observation that mean something where p does, in the order in which they are compared."""
    parts: dict[str, Any] = dict(observation)
    replicas = parts.get("replicas", {})
    meaning = {
        "replicas": {name: _chosen(replicas[name], REPLICA, p) for name in sorted(replicas)},
        "controller": _chosen(parts.get("controller", {}), CONTROLLER, p),
    }
    if p.consumer:
        meaning["consumer"] = _chosen(parts.get("consumer", {}), CONSUMER, p)
    if "producers" in parts:
        meaning["producers"] = _chosen(parts["producers"], PRODUCERS, p)
    return meaning


def _chosen(values: dict[str, Any], kinds: Iterable[Seen], p: Partition) -> dict[str, Any]:
    return {seen.name: values[seen.name] for seen in kinds if seen.name in values and seen.there(p)}
