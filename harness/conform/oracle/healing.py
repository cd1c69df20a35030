"""Stop all faults in the system under test, and let its replicas converge.

For the model, model/kafka/contract/healing.py stops the faults.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.conform.oracle.seen import SeenPartition
from epochfuzz.harness.conform.protocol.subject import Answering
from epochfuzz.harness.conform.protocol.wire import Observation
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.effects import Heals
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, Verb, verb_of
from epochfuzz.model.kafka.vocabulary.state import EPOCHS

if TYPE_CHECKING:
    from epochfuzz.harness.conform.run.drive import Setting

_PATIENCE = 3  # rounds to wait without a visible change, because a follower may need several epoch requests


@dataclass(frozen=True)
class Healed:
    """The observation after all faults have stopped, and `events`, the events that were applied to stop them."""

    observation: Observation
    events: tuple[str, ...]


def heal(subject: Answering, setting: "Setting", supported: Sequence[str]) -> Healed:
    """Stop all faults: restart replicas, deliver leader-and-ISR updates, and fetch until the logs are equal.

    Gives up after several rounds of fetches without a visible change. Sends only events that the adapter supports and
    that the protocol and the configuration can enable.
    """
    applied: list[str] = []
    settings = setting.settings
    names = REPLICA_NAMES[: settings.replicas]
    verbs = {verb_of(event).text for event in setting.alphabet()} & set(supported)

    def apply(event: str) -> bool:
        is_applied = subject.apply(event)
        applied.extend([event] if is_applied else [])
        return is_applied

    def each(verb: str) -> list[str]:
        return [name for name in names if verb in verbs and apply(f"{verb} {name}")]

    def learn() -> None:
        for _ in range(EPOCHS):
            learned = [each(verb) for verb in _when(Heals.LEARN)]
            if not any(learned):
                break

    def register() -> None:
        """Register each restarted broker. If this is not possible, end the broker's old session, and try again."""
        for name, seen in subject.observe()["replicas"].items():
            is_new = seen.get("up") is not False and seen.get("leader_epoch") is None
            if is_new and not apply(f"register {name}"):
                apply(f"expire {name}")
                apply(f"register {name}")

    for verb in _when(Heals.RETURN):
        each(verb)
    if "register" in verbs:
        register()
        learn()
    for verb in _when(Heals.UNFENCE):
        each(verb)
    controller: dict[str, Any] = subject.observe().get("controller", {})
    if "elect" in verbs and controller.get("leader", "unknown") is None:
        next((name for name in _candidates(controller) if apply(f"elect {name}")), None)
    learn()
    observation = subject.observe()
    quiet = 0
    for _ in range(3 * EPOCHS):
        for verb in _when(Heals.ROUND):
            each(verb)
        learn()
        before, observation = observation, subject.observe()
        quiet = quiet + 1 if observation == before else 0
        if quiet > _PATIENCE or (quiet and _has_converged(observation, settings)):
            break
    return Healed(observation, tuple(applied))


def _when(stage: Heals) -> list[str]:
    return [verb.text for verb in Verb if verb.heals is stage]


def _candidates(controller: dict[str, Any]) -> list[str]:
    """Return the replicas to try as leader, in order: the ISR, the ELR, the last known leader."""
    last = controller.get("last_known_leader")
    return [*controller.get("isr", []), *controller.get("elr", []), *([last] if last else [])]


def _has_converged(observation: Observation, settings: Configuration) -> bool:
    seen = SeenPartition(settings)
    seen.show(observation)
    return seen.has_converged()
