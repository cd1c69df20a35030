"""Select the schedules that an adapter plays: at random, for coverage, or because they show a known bug."""

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.refusals import REFUSALS

if TYPE_CHECKING:  # the command line needs this module before it imports anything slow
    from epochfuzz.harness.engine.walk.choose import Chooser
    from epochfuzz.harness.engine.walk.generate import Deck

CLIENTS_FOR = 10  # schedules per client process: they take seconds, and a run saves its progress after each process
# The default bounds of an exhaustive run.
SMALL = {"replicas": 2, "records": 1, "epochs": 2}


class Selection(StrEnum):
    """The ways to select schedules.

    RANDOM plays every drawn schedule. COVERAGE draws many schedules, and plays the one that reaches the most new
    coverage points. BUGS draws schedules until one breaks a property of a protocol with a known bug, see bugs.py.
    """

    RANDOM = "random"
    COVERAGE = "coverage"
    BUGS = "bugs"


def selection_for(judge: JudgedBy, *, is_client: bool = False) -> Selection:
    """Return the default selection for an oracle.

    The default is BUGS for clients, because they play only a few schedules. It is COVERAGE if only guarantees are
    checked, because few random schedules break a guarantee. It is RANDOM for the comparison with the model.
    """
    if is_client:
        return Selection.BUGS
    return Selection.COVERAGE if judge is JudgedBy.PROMISES else Selection.RANDOM


def schedule(
    selection: Selection,
    protocol: Protocol,
    settings: Configuration,
    seed: int,
    number: int,
    *,
    is_client: bool = False,
) -> bytes:
    """Return schedule `number` of a seed.

    With RANDOM, two protocols get equal schedules if they can enable the same `Cards.particular` (verbs that not every
    protocol can enable). With BUGS, the schedule is random if there is no known bug. With `is_client`, only the bugs
    that a client can show count.
    """
    if selection is Selection.COVERAGE:
        return _chooser_of(protocol, settings, seed).schedule(number)
    if selection is Selection.BUGS:
        from epochfuzz.harness.conform.run import bugs

        if (events := bugs.schedule(protocol, settings, seed, number, is_client=is_client)) is not None:
            return events
    from epochfuzz.harness.engine.walk import generate

    return generate.schedule(seed, number, _deck(protocol, settings))


@lru_cache(maxsize=4)
def _deck(protocol: Protocol, settings: Configuration) -> "Deck":
    """Return the deck (short event sequences) to draw random schedules from. A cache keeps the last four decks."""
    from epochfuzz.harness.engine.walk import generate
    from epochfuzz.model.kafka.kafka_model import KAFKA

    particular = generate.particular_verbs(KAFKA, KAFKA.initial(protocol, settings))
    return generate.deck_for(KAFKA, settings, [protocol] if particular else [])


def _chooser_of(protocol: Protocol, settings: Configuration, seed: int) -> "Chooser":
    """Return the Chooser, which selects schedules for coverage.

    The schedules have no event that a bound of the run forbids.
    """
    from epochfuzz.harness.engine.walk.choose import Limits, chooser

    bounds = tuple(number for number, refusal in enumerate(REFUSALS) if refusal.is_bound)
    return chooser(protocol, settings, seed, Limits(unsent=bounds))
