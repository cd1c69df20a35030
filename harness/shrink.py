"""Shrink: from a failure of any length to a reproducer of few events, and the certificate that none is shorter.

Hypothesis shrinks what the compiled walk found: the schedule is written down as the choices that would have drawn it,
and saved where `hypothesis.find` looks for earlier failures. Complete search then looks at every shorter schedule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, find
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import NoSuchExample

from harness.engine import explore
from model import properties, state
from model.configuration import Configuration
from model.protocols import Protocol
from model.state import Partition
from model.step import step

_KEY = b"failure"
_MOST_ATTEMPTS = 10_000


class DoesNotBreak(ValueError):
    """The schedule to be shrunk does not break the property."""


@dataclass(frozen=True)
class Reproducer:
    """A schedule that breaks a property, every event of it enabled.

    `certified_minimal`: complete search found nothing shorter for that protocol, property and configuration.
    Otherwise `searched` is the length below which nothing shorter exists, for memory ended the search there.
    """

    schedule: bytes
    certified_minimal: bool
    searched: int


def breaking_prefix(
    schedule: bytes, protocol: Protocol, settings: Configuration, wanted: int, spared: Sequence[Protocol] = ()
) -> bytes | None:
    """The enabled events of a schedule up to where a wanted property first broke; None where none did.

    None also where one of the protocols to be `spared` broke any property by then. They must converge from there;
    where they do not, a later event at which they do, and the wanted property is still broken, will do.
    """
    p = state.initial(protocol, settings)
    others = [state.initial(other, settings) for other in spared]
    applied = bytearray()
    for event in schedule:
        enabled = step(p, event)
        for other in others:
            enabled |= step(other, event)
        if enabled:
            applied.append(event)
            if any(properties.broken_now(other) for other in others):
                return None
            if properties.broken_now(p) & wanted and _converge(others):
                return bytes(applied)
    if wanted & properties.CONVERGENCE and properties.non_convergence(p) and _converge(others):
        return bytes(applied)
    return None


def _converge(others: Sequence[Partition]) -> bool:
    return not any(properties.non_convergence(other.copy()) for other in others)


def shrink(
    schedule: bytes, protocol: Protocol, settings: Configuration, wanted: int, spared: Sequence[Protocol] = ()
) -> bytes:
    """A schedule as short as Hypothesis can make it that still breaks a wanted property. Raises DoesNotBreak."""
    failing = breaking_prefix(schedule, protocol, settings, wanted, spared)
    if failing is None:
        raise DoesNotBreak
    alphabet = list(settings.alphabet())
    database = InMemoryExampleDatabase()
    database.save(_KEY, choices_to_bytes(_choices(failing, alphabet)))
    try:
        shrunk = find(
            st.lists(st.sampled_from(alphabet)),
            lambda events: breaking_prefix(bytes(events), protocol, settings, wanted, spared) is not None,
            settings=hypothesis_settings(
                database=database,
                max_examples=_MOST_ATTEMPTS,
                phases=[Phase.reuse, Phase.shrink],
                suppress_health_check=list(HealthCheck),
                deadline=None,
                derandomize=False,  # which would ignore what is saved
            ),
            database_key=_KEY,
        )
    except NoSuchExample:
        return failing
    return breaking_prefix(bytes(shrunk), protocol, settings, wanted, spared) or failing


def _choices(schedule: bytes, alphabet: list[int]) -> list[bool | int]:
    """The choices with which a list strategy over the alphabet draws the schedule.

    Before each element it draws whether there is one more. Hypothesis does not shrink a saved sequence that it can
    replay exactly; one choice too many makes it do so.
    """
    choices: list[bool | int] = []
    for event in schedule:
        choices += [True, alphabet.index(event)]
    return [*choices, False, 0]


def certify(
    schedule: bytes,
    protocol: Protocol,
    settings: Configuration,
    wanted: int,
    memory: int = explore.DEFAULT_MEMORY,
    report: Callable[[explore.Progress], None] = lambda progress: None,
) -> Reproducer:
    """Search every shorter schedule; one that breaks a wanted property takes the place of the one given."""
    depth = len(schedule) - 1
    result = explore.explore(protocol, settings.bounded_by(depth), wanted, depth=depth, memory=memory, report=report)
    if result.shortest is not None:
        return Reproducer(result.shortest, True, len(result.shortest))
    return Reproducer(schedule, not result.memory_exhausted, result.depth + 1)
