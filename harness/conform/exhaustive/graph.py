"""The graph of an exhaustive run: the model's transitions within bounds, and test sequences (tours) that cover them.

Test sequences use only the events that the adapter supports. States that differ only in the names of replicas are one
state. The reset at the start of a test sequence fixes the names, and the events of the sequence then determine the name
of each replica in later states.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.engine.explore.explore import DEFAULT_MEMORY, SearchProgress
from epochfuzz.harness.engine.explore.tours import Edges, Flags, Numbers, Reach
from epochfuzz.harness.engine.explore.transitions import Transitions, transitions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import renamed_event, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_IDENTITY = 0  # the number of the permutation that renames no replica


@dataclass(frozen=True)
class Tour:
    """A test sequence: the events after a reset.

    `edges` are the numbers of the events' transitions. `applies` has True for each enabled event.
    """

    events: bytes
    edges: tuple[int, ...]
    applies: tuple[bool, ...]

    def only(self, kept: Iterable[bool]) -> "Tour":
        """Return the test sequence with only the events that `kept` flags. `kept` must flag every enabled event."""
        keeps = list(kept)
        edges, applies = tuple(compress(self.edges, keeps)), tuple(compress(self.applies, keeps))
        return Tour(bytes(compress(self.events, keeps)), edges, applies)


class Graph:
    """The transitions of the model within bounds, numbered from 0.

    `supported` flags the transitions whose event the adapter supports. `refused` flags the transitions of events that
    are not enabled. Such a transition leads back to its own state.
    """

    def __init__(self, found: Transitions, verbs: Collection[str], with_refused: bool) -> None:
        supported = np.zeros(256, bool)
        supported[[event for event in found.alphabet if verb_of(event).text in verbs]] = True
        sources, events, targets, names = found.sources, found.events, found.targets, found.names
        refused = np.zeros(len(events), bool)
        if with_refused:
            states, also = _refused(found, supported)
            order = np.argsort(np.concatenate([sources, states]), kind="stable")
            sources, targets = (np.concatenate([each, states])[order] for each in (sources, targets))
            events = np.concatenate([events, also])[order]
            names = np.concatenate([names, np.full(len(states), _IDENTITY, np.uint8)])[order]
            refused = np.concatenate([refused, np.ones(len(states), bool)])[order]
        self.events, self.refused = events, refused
        self.edges = Edges(found.states, sources, targets)
        self.supported: Flags = supported[events]
        self._names, self._start = names, found.start
        self._renamed, self._after = found.renaming(renamed_event)

    @property
    def size(self) -> int:
        """The number of transitions."""
        return len(self.events)

    def reached(self, without: Flags) -> Flags:
        """Return a flag for each transition: True if a path from a reset reaches the transition.

        `without` flags the transitions that the path must avoid.
        """
        return Reach(self.edges, self.supported & ~without).reached()

    def tours(self, wanted: Flags, without: Flags) -> Iterator[Tour]:
        """Yield test sequences that cover the transitions in `wanted`. They avoid the transitions in `without`.

        No sequence covers a wanted transition if every path to this transition has a transition in `without`.
        """
        return map(self.tour, self.ways(wanted, without))

    def ways(self, wanted: Flags, without: Flags) -> Iterator[Numbers]:
        """Yield the same test sequences as `tours`, but as arrays of transition numbers.

        The method is much faster than `tours`, because it doesn't compute the names of replicas.
        """
        return Reach(self.edges, self.supported & ~without).tours(wanted)

    def tour(self, way: Numbers) -> Tour:
        """Return the test sequence that follows an array of transition numbers."""
        return Tour(self._named(way), tuple(way.tolist()), tuple((~self.refused[way]).tolist()))

    @property
    def digest(self) -> str:
        """A digest of 16 hexadecimal digits. Two graphs with equal digests number their transitions in the same way."""
        of_all = self.events.tobytes() + self.edges.targets.tobytes() + self.supported.tobytes()
        return hashlib.sha256(of_all).hexdigest()[:16]

    def _named(self, edges: Numbers) -> bytes:
        """Return the events of a path from a reset, with the names of replicas that result from the path."""
        order = self._start
        events = bytearray()
        for event, names in zip(self.events[edges].tolist(), self._names[edges].tolist(), strict=True):
            events.append(self._renamed[order][event])
            order = self._after[order][names]
        return bytes(events)


def graph(
    protocol: Protocol,
    settings: Configuration,
    verbs: Collection[str],
    with_refused: bool,
    report: Callable[[SearchProgress], None] = lambda progress: None,
    memory: int = DEFAULT_MEMORY,
) -> Graph:
    """Compute all transitions of the model within bounds, and return their graph. `memory` is in bytes.

    Raises DoesNotFit, MemoryEnded and Ambiguous.
    """
    return Graph(transitions(protocol, settings, memory, report), verbs, with_refused)


def _refused(found: Transitions, supported: Flags) -> tuple[Numbers, npt.NDArray[np.uint8]]:
    """Return all pairs of a state and a supported event that is not enabled in the state: states, and their events."""
    events = np.array([event for event in found.alphabet if supported[event]], np.uint8)
    column = np.full(256, len(events))
    column[events] = np.arange(len(events))
    applied = np.zeros((found.states, len(events) + 1), bool)
    applied[found.sources, column[found.events]] = True
    states, columns = np.nonzero(~applied[:, : len(events)])
    return states.astype(np.int32), events[columns]
