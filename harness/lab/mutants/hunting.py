"""Hunt for a mutant: run compiled random schedules under its protocol until one detects it."""

from collections.abc import Iterable
from dataclasses import replace

from epochfuzz.harness.engine.walk import generate
from epochfuzz.harness.engine.walk.hunt import Hunter
from epochfuzz.harness.lab.mutants.mutant import Mutant
from epochfuzz.harness.lab.mutants.proofs import judged, proofs
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

DEFAULT_STRATEGY = "swarm"


def settings_for(defect: Mutant) -> Configuration:
    """Return the configuration of the mutant's proof, without its bounds on records and epochs."""
    proven = proofs()[defect.name].settings
    return replace(proven, records=Configuration.records, epochs=Configuration.epochs)


def hunter(defect: Mutant) -> Hunter:
    """Return a hunter for a detectable mutant of the protocol."""
    settings = settings_for(defect)
    return Hunter(defect.broken_protocol, settings, judged(defect, settings))


def first_not_seen(defect: Mutant, settings: Configuration, seed: int, most: int) -> tuple[int, int] | None:
    """Return (number, properties) of the first schedule with a violation that the mutant's checks miss."""
    deck = generate.deck_for(KAFKA, settings, [defect.sound_protocol])
    for number in range(most):
        schedule = generate.schedule(seed, number, deck)
        unseen = broken(defect.sound_protocol, settings, schedule)
        unseen &= ~broken(defect.broken_protocol, settings, schedule)
        if unseen:
            return number, unseen
    return None


def broken(protocol: Protocol, settings: Configuration, schedule: Iterable[int]) -> int:
    """Run a schedule interpreted. Returns the set of properties that break after any event or at the end."""
    execution = Execution(protocol, settings)
    found = 0
    for event in schedule:
        if execution.apply(event):
            found |= execution.broken()
    return found | execution.broken_at_end()
