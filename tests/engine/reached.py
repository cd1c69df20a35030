"""The reachable states of the toy log, from a plain search without keys, kernels and symmetry."""

from functools import cache
from itertools import permutations
from typing import Any

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.permutation import renamed
from tests.engine.toy import LOG

EAGER, PATIENT, STUBBORN = map(LOG.protocol, ("eager", "patient", "stubborn"))
LOSS, AGREEMENT = 1, 2
SETTINGS = LOG.settings

Values = tuple[Any, ...]


def events(*texts: str) -> bytes:
    return bytes(map(LOG.events.parse, texts))


def values(p: Any) -> Values:
    return tuple(tuple(p.length) if f.name == "length" else getattr(p, f.name) for f in p.table.variables)


@cache
def reached(protocol: Any, settings: Any = SETTINGS) -> dict[Values, tuple[bytes, Execution]]:
    """Return every state, with the first of the shortest schedules that reach it."""
    start = Execution(protocol, settings)
    found = {values(start.state): (b"", start)}
    level = [(b"", start)]
    while level:
        following = []
        for schedule, here in level:
            for event in here.alphabet():
                after = here.copy()
                if after.apply(event) and values(after.state) not in found:
                    found[values(after.state)] = schedule + bytes([event]), after
                    following.append(found[values(after.state)])
        level = following
    return found


def classes(protocol: Any) -> set[frozenset[Values]]:
    """Return the classes of states that differ only in replica names."""
    names = list(permutations(range(SETTINGS.replicas)))
    return {frozenset(values(renamed(here.state, each)) for each in names) for _, here in reached(protocol).values()}
