"""Which random schedules a cluster plays: drawn as walks draw them, and chosen by the model.

A cluster plays some schedules a minute, so none of its time is for events that do nothing, or for schedules like many
before: the model of the release, a thousand times faster, leaves out what does nothing, and of many schedules chooses
one to play (ModelFuzz: Gulcan et al., 2024). What it has no part in is the verdict.
"""

from collections import Counter

from epochfuzz.harness.cluster.schedules.events import EVENTS
from epochfuzz.harness.cluster.schedules.fuzzed import DRAWN_FOR_ONE
from epochfuzz.harness.conform.run.selection import Selection
from epochfuzz.harness.engine.walk.choose import CANDIDATES, Limits
from epochfuzz.harness.engine.walk.choose import Chooser as CoverageChooser
from epochfuzz.harness.engine.walk.generate import Deck, deck_for, schedule
from epochfuzz.harness.witness.replay import Run, replay
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_MOST_EVENTS = 24  # of a schedule: what happens in the first lives of a partition
_LEAST_EVENTS = 4
_MOST_DRAWN = 80  # of which that many events are to come
# Each of these waits for the end of a session, or for a process to start: one of a schedule, so that most of the time
# is not spent in waiting.
_SLOW = frozenset({Verb.EXPIRE, Verb.CRASH, Verb.RESTART, Verb.SHRINK, Verb.SHUTDOWN})
_MOST_SLOW = 2


class Chooser:
    """Chooses schedules of a seed. What it has chosen so far has a part in what it chooses next."""

    def __init__(
        self, protocol: Protocol, settings: Configuration, seed: int, selection: Selection = Selection.RANDOM
    ) -> None:
        self._covering = covering(protocol, settings, seed) if selection is Selection.COVERAGE else None
        self._protocol, self._settings, self._seed = protocol, settings, seed
        self._deck: Deck = deck_for(KAFKA, settings, [protocol])
        self._broken: set[frozenset[str]] = set()  # what schedules broke in the model that were chosen
        self._met: Counter[int] = Counter()  # how many of them met a goal

    @property
    def drawn_for_one(self) -> int:
        """How many schedules are drawn in a turn."""
        return DRAWN_FOR_ONE if self._covering is None else CANDIDATES

    def turn(self, number: int) -> tuple[int, bytes] | None:
        """Return the one of those drawn in a turn that is to be played, with its number; None if none is worth it."""
        if self._covering is not None:
            events = self._covering.schedule(number)
            return (number, events) if len(events) >= _LEAST_EVENTS else None
        first = number * DRAWN_FOR_ONE
        chosen, events = self.chosen(range(first, first + DRAWN_FOR_ONE))
        return (chosen, events) if len(events) >= _LEAST_EVENTS else None

    def chosen(self, numbers: range) -> tuple[int, bytes]:
        """Return one of some schedules: one that breaks something in the model, or else one that meets most goals
        that few have met so far.
        """
        best, most = (numbers[0], b""), -1.0
        for number in numbers:
            events, run = self.drawn(number)
            kind = frozenset(run.broken)
            if kind and kind not in self._broken:
                self._broken.add(kind)
                return number, events
            worth = sum(1 / (1 + self._met[goal]) for goal in _goals(run))
            if worth > most:
                best, most, met = (number, events), worth, _goals(run)
        self._met.update(met)
        return best

    def drawn(self, number: int) -> tuple[bytes, Run]:
        """Return a schedule: events that do something in the model, few of them slow, and none that is not offered."""
        offered = [event for event in schedule(self._seed, number, self._deck) if verb_of(event).text in EVENTS]
        kept, slow = bytearray(), 0
        for event in offered[:_MOST_DRAWN]:
            slow += verb_of(event) in _SLOW
            if verb_of(event) not in _SLOW or slow <= _MOST_SLOW:
                kept.append(event)
        applied = bytes(step.event for step in self._replay(bytes(kept)).steps if step.applied)[:_MOST_EVENTS]
        return applied, self._replay(applied)

    def _replay(self, events: bytes) -> Run:
        return replay(events, self._protocol, self._settings)


def covering(protocol: Protocol, settings: Configuration, seed: int) -> CoverageChooser:
    """Return what chooses by what schedules cover: of events that the cluster offers and does not refuse."""
    offered = tuple(int(verb) for verb in Verb if verb.text in EVENTS)
    slow = tuple(map(int, sorted(_SLOW)))
    limits = Limits(_MOST_EVENTS, refused=False, verbs=offered, slow=slow, most_slow=_MOST_SLOW)
    return CoverageChooser(protocol, settings, seed, limits)


def _goals(run: Run) -> list[int]:
    """Return the goals that a run has met, as bits."""
    met = int(run.steps[-1].state.goals) if run.steps else 0
    return [bit for bit in range(met.bit_length()) if met >> bit & 1]
