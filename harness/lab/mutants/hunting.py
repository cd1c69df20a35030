"""Run random schedules on a mutant, a protocol with one wrong rule, until a schedule detects the mutant."""

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
    """Return the configuration of the mutant's proof, with the default bounds on records and epochs."""
    proven = proofs()[defect.name].settings
    return replace(proven, records=Configuration.records, epochs=Configuration.epochs)


def hunter(defect: Mutant) -> Hunter:
    """Return a Hunter for a mutant, which runs compiled schedules until one detects the mutant.

    A schedule detects the mutant if it breaks a property under the mutant and not under the protocol without the
    mutant's change.
    """
    settings = settings_for(defect)
    return Hunter(defect.broken_protocol, settings, judged(defect, settings))


def first_not_seen(defect: Mutant, settings: Configuration, seed: int, most: int) -> tuple[int, int] | None:
    """Return the number of the first schedule with violations that the mutant's checks miss, and these violations.

    The violations are a set of properties, as bits. Returns None if the checks miss no violation in the first `most`
    schedules.
    """
    deck = generate.deck_for(KAFKA, settings, [defect.sound_protocol])
    for number in range(most):
        schedule = generate.schedule(seed, number, deck)
        unseen = broken(defect.sound_protocol, settings, schedule)
        unseen &= ~broken(defect.broken_protocol, settings, schedule)
        if unseen:
            return number, unseen
    return None


def broken(protocol: Protocol, settings: Configuration, schedule: Iterable[int]) -> int:
    """Run a schedule with rules that Python interprets. Returns the set of the properties that break, as bits."""
    execution = Execution(protocol, settings)
    found = 0
    for event in schedule:
        if execution.apply(event):
            found |= execution.broken()
    return found | execution.broken_at_end()
