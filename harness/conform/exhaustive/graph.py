"""What there is to be played: the model's transitions within bounds by the events that a subject has, and their tours.

Transitions are up to the names of replicas. A tour begins at a reset, where names are what they are, so the names that
each of its states has, and the events, are found by going along.
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

_IDENTITY = 0  # the number of the order in which everybody keeps his name


@dataclass(frozen=True)
class Tour:
    """Events from a reset on, the transition that each of them is, and whether it applies."""

    events: bytes
    edges: tuple[int, ...]
    applies: tuple[bool, ...]

    def only(self, kept: Iterable[bool]) -> "Tour":
        """Return the tour without some events, none of which applies."""
        keeps = list(kept)
        edges, applies = tuple(compress(self.edges, keeps)), tuple(compress(self.applies, keeps))
        return Tour(bytes(compress(self.events, keeps)), edges, applies)


class Graph:
    """The transitions that a subject can be asked for. Those `refused` lead from a state to itself."""

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
        """How many transitions there are."""
        return len(self.events)

    def reached(self, without: Flags) -> Flags:
        """Return what can be reached from a reset by the events that there are, without some transitions."""
        return Reach(self.edges, self.supported & ~without).reached()

    def tours(self, wanted: Flags, without: Flags) -> Iterator[Tour]:
        """Plan tours along all wanted transitions that can be reached without some."""
        return map(self.tour, self.ways(wanted, without))

    def ways(self, wanted: Flags, without: Flags) -> Iterator[Numbers]:
        """Plan them as nothing but the transitions that each goes along, which takes much less time."""
        return Reach(self.edges, self.supported & ~without).tours(wanted)

    def tour(self, way: Numbers) -> Tour:
        """Return the tour along some transitions."""
        return Tour(self._named(way), tuple(way.tolist()), tuple((~self.refused[way]).tolist()))

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits, the same where transitions have the same numbers."""
        of_all = self.events.tobytes() + self.edges.targets.tobytes() + self.supported.tobytes()
        return hashlib.sha256(of_all).hexdigest()[:16]

    def _named(self, edges: Numbers) -> bytes:
        """Return the events of a way from the reset on, by the names that replicas have there."""
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
    """Find out what there is to be played. Raises DoesNotFit, MemoryEnded and Ambiguous."""
    return Graph(transitions(protocol, settings, memory, report), verbs, with_refused)


def _refused(found: Transitions, supported: Flags) -> tuple[Numbers, npt.NDArray[np.uint8]]:
    """Return the states and the events that do not apply in them, of those that a subject has."""
    events = np.array([event for event in found.alphabet if supported[event]], np.uint8)
    column = np.full(256, len(events))
    column[events] = np.arange(len(events))
    applied = np.zeros((found.states, len(events) + 1), bool)
    applied[found.sources, column[found.events]] = True
    states, columns = np.nonzero(~applied[:, : len(events)])
    return states.astype(np.int32), events[columns]
