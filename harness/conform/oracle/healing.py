"""Healing: what model/kafka/contract/healing.py does to the model, done to a subject in events."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.conform.oracle.seen import SeenPartition
from epochfuzz.harness.conform.protocol.subject import Answering
from epochfuzz.harness.conform.protocol.wire import Observation
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, Heals, Verb, verb_of
from epochfuzz.model.kafka.vocabulary.state import EPOCHS

if TYPE_CHECKING:
    from epochfuzz.harness.conform.run.drive import Setting

_PATIENCE = 3  # rounds in which nothing is seen to happen; a follower may be asking for one epoch after another


def heal(subject: Answering, setting: "Setting", supported: Sequence[str]) -> Observation:
    """All faults stop: everyone returns, learns every decision, and fetches until logs agree or nothing happens.

    Only events are sent that the subject supports, and that protocol and configuration can enable.
    """
    settings = setting.settings
    names = REPLICA_NAMES[: settings.replicas]
    verbs = {verb_of(event).text for event in setting.alphabet()} & set(supported)

    def each(verb: str) -> list[str]:
        return [name for name in names if verb in verbs and subject.apply(f"{verb} {name}")]

    def learn() -> None:
        for _ in range(EPOCHS):
            learned = [each(verb) for verb in _when(Heals.LEARN)]
            if not any(learned):
                break

    for verb in _when(Heals.RETURN):
        each(verb)
    controller: dict[str, Any] = subject.observe().get("controller", {})
    if "elect" in verbs and controller.get("leader", "unknown") is None:
        next((name for name in _candidates(controller) if subject.apply(f"elect {name}")), None)
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
    return observation


def _when(stage: Heals) -> list[str]:
    return [verb.text for verb in Verb if verb.heals is stage]


def _candidates(controller: dict[str, Any]) -> list[str]:
    """Who may lead: the ISR, and where that is empty who may replace it."""
    last = controller.get("last_known_leader")
    return [*controller.get("isr", []), *controller.get("elr", []), *([last] if last else [])]


def _has_converged(observation: Observation, settings: Configuration) -> bool:
    seen = SeenPartition(settings)
    seen.show(observation)
    return seen.has_converged()
