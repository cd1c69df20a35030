"""The oracle that runs the model in lockstep: after every event, it compares the system under test with the model."""

from collections.abc import Iterable
from typing import Any

from epochfuzz.harness.cases.verdict import differences
from epochfuzz.harness.conform.oracle.met import Meeting
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind
from epochfuzz.harness.conform.protocol.wire import Observation
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract.observation import CONSUMER, CONTROLLER, PRODUCERS, REPLICA, Seen, observe
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.effects import Effect
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, REFUSALS
from epochfuzz.model.kafka.vocabulary.state import NONE, Partition


class LockStep:
    """Compares the system under test with the model over one schedule. The first difference ends the schedule.

    Most events of a random schedule are not enabled. In each state, the oracle sends the first event that is not
    enabled, to check that the system under test rejects the event too. With `every_refusal`, the oracle sends all
    events that are not enabled.
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
        """The current state of the model."""
        state: Partition = self._execution.state
        return state

    def begin(self, observation: Observation) -> list[Discrepancy]:
        """Return a list with the first difference between the state after a reset and the model, or an empty list."""
        return self._first_difference(observation, beside(self.model, observation))

    def advance(self, event: int) -> bool:
        """Apply the event to the model, and return whether to send it to the adapter."""
        refusal = REFUSALS[self._execution.attempt(event)]
        if refusal.is_bound:  # the system under test does not know the bounds of a run
            return False
        state_is_new = self._applied
        self._applied = refusal is APPLIED
        if self._applied:
            self._note_restart(event)
        is_sent = self._applied or state_is_new or self._every_refusal
        if is_sent:
            self.meeting.note(event, refusal, int(self.model.goals))
        return is_sent

    def judge(self, event: int, applied: bool, observation: Observation) -> list[Discrepancy]:
        """Return a list with the first difference between the adapter's reply and the model, or an empty list."""
        if applied != self._applied:
            return [Discrepancy(DiscrepancyKind.DIFFERENCE, "applied", self._applied, applied)]
        expected = beside(self.model, observation)
        if observation == expected:
            return []
        return self._first_difference(observation, expected)

    def compared(self, observation: Observation) -> dict[str, Any]:
        """Return the fields of an observation that can be compared with the model's current state, in a fixed order."""
        shown = ordered(observation, self.model)
        for name in self._uninformed & shown["replicas"].keys():
            # After a restart, the model has the epoch before the next update in this field.
            shown["replicas"][name].pop("leader_epoch", None)
        return shown

    def _note_restart(self, event: int) -> None:
        """Update the set of replicas that have received no leader-and-ISR update since their last restart."""
        name, effect = REPLICA_NAMES[replica_of(event)], verb_of(event).effect
        if effect is Effect.STARTS:
            self._uninformed.add(name)
        elif effect is not None:
            self._uninformed.discard(name)

    def _first_difference(self, observation: Observation, expected: dict[str, Any]) -> list[Discrepancy]:
        shown = self.compared(observation)
        for name, replica in shown["replicas"].items():
            if name not in expected["replicas"]:
                return [Discrepancy(DiscrepancyKind.DIFFERENCE, f"replicas.{name}", None, replica)]
        for where, observed, wanted in differences(shown, expected):
            return [Discrepancy(DiscrepancyKind.DIFFERENCE, ".".join(where), wanted, observed)]
        return []


def is_from_reset(fault: Discrepancy, sent: bytes, protocol: Protocol, settings: Configuration) -> bool:
    """Return whether a difference after the first event may have existed since the reset.

    The result is True if the first event did not change the differing field in the model. The adapter need not show an
    observation before the first event, so epochfuzz may not have seen the difference earlier.
    """
    if len(sent) != 1 or fault.kind is not DiscrepancyKind.DIFFERENCE or fault.field in (None, "applied"):
        return False
    value: Any = comparable(Execution(protocol, settings).state)
    for name in str(fault.field).split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return bool(value == fault.expected)


def comparable(p: Partition) -> dict[str, Any]:
    """Return an observation of a model state, with the types of an observation parsed from a reply."""
    observation = observe(p)
    for replica in observation["replicas"].values():
        replica["log"] = [tuple(entry) for entry in replica["log"]]
        replica["epochs"] = [tuple(entry) for entry in replica["epochs"]]
    return observation


def beside(p: Partition, observation: Observation) -> dict[str, Any]:
    """Return the model's values for a comparison with an observation.

    These values include the acknowledged records only if the observation includes them.
    """
    told = {"producers": {seen.name: seen.value(p, NONE) for seen in PRODUCERS}} if "producers" in observation else {}
    return comparable(p) | told


def ordered(observation: Observation, p: Partition) -> dict[str, Any]:
    """Return the fields of an observation that can be compared with the model state `p`, in the order of comparison."""
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
