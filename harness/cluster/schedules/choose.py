"""Draw random schedules, and let the model choose the ones that a cluster should play.

A cluster plays only a few schedules per minute. A cluster should not spend time on events without effect, or on
schedules that resemble many earlier schedules. The model of the release is a thousand times faster. The model drops
events without effect, and chooses one of many schedules (ModelFuzz: Gulcan et al., 2024). The model has no part in the
verdict.
"""

from collections import Counter
from typing import Any

from epochfuzz.harness.cluster.schedules.events import EVENTS
from epochfuzz.harness.cluster.schedules.fuzzed import DRAWN_FOR_ONE
from epochfuzz.harness.conform.run.selection import Selection
from epochfuzz.harness.engine.walk.choose import CANDIDATES, Limits
from epochfuzz.harness.engine.walk.choose import Chooser as CoverageChooser
from epochfuzz.harness.engine.walk.generate import Deck, deck_for, schedule
from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_MOST_EVENTS = 24  # per schedule: enough for the first few leader epochs of a partition
_LEAST_EVENTS = 4
_MOST_DRAWN = 80  # events drawn, of which at most _MOST_EVENTS remain
# Each of these waits for the end of a session, or for a process to start. A schedule contains only a few of them, so
# that it does not spend most of its time waiting.
_SLOW = frozenset({Verb.EXPIRE, Verb.CRASH, Verb.RESTART, Verb.SHRINK, Verb.SHUTDOWN})
_MOST_SLOW = 3  # a broker needs `crash`, `restart` and `expire` before it can register again


class ClusterChooser:
    """Chooses schedules for a cluster. Each turn draws many random schedules, and chooses a single schedule.

    The choice depends on earlier choices, because the chooser prefers schedules that resemble few earlier ones.
    """

    def __init__(
        self, protocol: Protocol, settings: Configuration, seed: int, selection: Selection = Selection.RANDOM
    ) -> None:
        self._covering = covering(protocol, settings, seed) if selection is Selection.COVERAGE else None
        self._protocol, self._settings, self._seed = protocol, settings, seed
        self._deck: Deck = deck_for(KAFKA, settings, [protocol])
        self._broken: set[frozenset[str]] = set()  # the sets of properties that chosen schedules broke in the model
        self._met: Counter[int] = Counter()  # for each goal, the number of chosen schedules that met it

    def memory(self) -> dict[str, Any]:
        """Return the state that influences later choices, as plain data for JSON. `remember` restores it."""
        return {"broken": sorted(map(sorted, self._broken)), "met": sorted(self._met.items())}

    def remember(self, memory: dict[str, Any]) -> None:
        """Restore the state that `memory` returned, so that an interrupted run can resume."""
        self._broken, self._met = set(map(frozenset, memory["broken"])), Counter(dict(memory["met"]))

    @property
    def drawn_for_one(self) -> int:
        """The number of random schedules that each turn draws."""
        return DRAWN_FOR_ONE if self._covering is None else CANDIDATES

    def turn(self, number: int) -> tuple[int, bytes] | None:
        """Choose a schedule in turn `number`. Returns the number of the schedule, and its events.

        None if the schedule has fewer than four events.
        """
        if self._covering is not None:
            events = self._covering.schedule(number)
            return (number, events) if len(events) >= _LEAST_EVENTS else None
        first = number * DRAWN_FOR_ONE
        chosen, events = self.chosen(range(first, first + DRAWN_FOR_ONE))
        return (chosen, events) if len(events) >= _LEAST_EVENTS else None

    def chosen(self, numbers: range) -> tuple[int, bytes]:
        """Return the best of the random schedules with the given numbers, as its number and its events.

        The best schedule is the first that breaks, in the model, a set of properties that no chosen schedule broke.
        If no schedule does, the best is the schedule that meets the rarest coverage goals.
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
        """Return random schedule `number`, and its run in the model.

        The schedule has only events that the cluster supports and that are enabled in the model. At most three events
        are slow, such as `crash`.
        """
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
    """Return a chooser that selects schedules by coverage. It draws only enabled events that a cluster supports."""
    offered = tuple(int(verb) for verb in Verb if verb.text in EVENTS)
    slow = tuple(map(int, sorted(_SLOW)))
    limits = Limits(steps=_MOST_EVENTS, refused=False, verbs=offered, slow=slow, most_slow=_MOST_SLOW)
    return CoverageChooser(protocol, settings, seed, limits)


def _goals(run: Run) -> list[int]:
    """Return the numbers of the coverage goals that a run has met."""
    met = int(run.steps[-1].state.goals) if run.steps else 0
    return [bit for bit in range(met.bit_length()) if met >> bit & 1]
