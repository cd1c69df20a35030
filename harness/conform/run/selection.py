"""Selection: which schedules of a seed a subject plays."""

from enum import StrEnum
from typing import TYPE_CHECKING

from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.refusals import REFUSALS

if TYPE_CHECKING:  # the command line names the ways before it loads anything
    from epochfuzz.harness.engine.walk.choose import Chooser

# The bounds within which every transition is played, where nothing else is asked for.
SMALL = {"replicas": 2, "records": 1, "epochs": 2}


class Selection(StrEnum):
    """As they are drawn, or of many that are drawn the one that meets most of what was not chosen before."""

    RANDOM = "random"
    COVERAGE = "coverage"


def schedule(selection: Selection, protocol: Protocol, settings: Configuration, seed: int, number: int) -> bytes:
    """Return schedule `number` of a seed. At random it is the same under every protocol."""
    if selection is Selection.COVERAGE:
        return chooser_of(protocol, settings, seed).schedule(number)
    from epochfuzz.harness.engine.walk import generate
    from epochfuzz.model.kafka.kafka_model import KAFKA

    return generate.schedule(seed, number, generate.deck_for(KAFKA, settings))


def chooser_of(protocol: Protocol, settings: Configuration, seed: int) -> "Chooser":
    """Return what chooses for a subject in lock step: what a bound of the run refuses is not sent to it."""
    from epochfuzz.harness.engine.walk.choose import Limits, chooser

    bounds = tuple(number for number, refusal in enumerate(REFUSALS) if refusal.is_bound)
    return chooser(protocol, settings, seed, Limits(unsent=bounds))
