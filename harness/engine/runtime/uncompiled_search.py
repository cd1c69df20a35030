"""Search a small number of states in plain Python, to show a result before the compiled functions are ready."""

import marshal
from collections.abc import Callable, Sequence

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.fields import Grid, Interpreted
from epochfuzz.model.core.model import Bounds, Protocol, Settings

_BETWEEN = 64  # states expanded between two calls of `goes_on`


class GivenUp(Exception):
    """The caller has ended the search: `goes_on` returned False."""


def shortest(
    protocol: Protocol, settings: Settings, wanted: int, small: Sequence[Bounds], goes_on: Callable[[], bool]
) -> bytes | None:
    """Return a shortest schedule that breaks a wanted property, None if there is none within the `small` bounds.

    `wanted` has a bit for each property. The function searches within each of the small bounds in turn. If it finds a
    schedule, it searches for a shorter one within the full bounds of the settings. The function calls `goes_on` from
    time to time, and raises GivenUp if `goes_on` returns False.
    """
    most = settings.bounds
    for bounds in small:
        within = settings.within(type(most)(*map(min, bounds, most)))
        found = _search(protocol, within, wanted, None, goes_on)
        if found is not None:
            depth = len(found) - 1
            return _search(protocol, settings.bounded_by(depth), wanted, depth, goes_on) or found
    return None


def _search(
    protocol: Protocol, settings: Settings, wanted: int, depth: int | None, goes_on: Callable[[], bool]
) -> bytes | None:
    """Return a shortest schedule of up to `depth` events (None: any length) that breaks a wanted property, or None."""
    execution = Execution(protocol, settings)
    state, alphabet = _State(execution.state), execution.alphabet()
    visited, level, length = {state.key()}, [(state.key(), b"")], 0
    while level and (depth is None or length < depth):
        length += 1
        following: list[tuple[bytes, bytes]] = []
        for number, (key, schedule) in enumerate(level):
            if number % _BETWEEN == 0 and not goes_on():
                raise GivenUp
            state.become(key)
            for event in alphabet:
                if not execution.apply(event):
                    continue
                execution.model.forget(execution.state)
                after = state.key()
                if after not in visited:
                    if execution.breaks(wanted):
                        return schedule + bytes([event])
                    visited.add(after)
                    following.append((after, schedule + bytes([event])))
                state.become(key)
        level = following
    return None


class _State:
    """A state of the model whose fields can be set from a key.

    Reusing one state is faster than making a new state for each key of a search.
    """

    def __init__(self, p: Interpreted) -> None:
        self._p = p
        self._names = tuple(field.name for field in p.table.variables if field.read(p))

    def key(self) -> bytes:
        """Return the values of all fields that at least one rule reads, as bytes."""
        values = [getattr(self._p, name) for name in self._names]
        return marshal.dumps([list(value.values()) if isinstance(value, Grid) else value for value in values])

    def become(self, key: bytes) -> None:
        """Set the fields of the state to the values in a key."""
        for name, wanted in zip(self._names, marshal.loads(key), strict=True):
            value = getattr(self._p, name)
            if not isinstance(value, Grid):
                if value != wanted:
                    setattr(self._p, name, wanted)
            elif list(value.values()) != wanted:
                value.update(zip(value, wanted, strict=True))
