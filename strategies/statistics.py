"""Statistics and targets of Hypothesis examples, for `--hypothesis-show-statistics`, Tyche and HypoFuzz.

A statistic (an event of Hypothesis) is a text: a coverage goal that the example reached, or a verb that happened.
Hypothesis shows the share of examples with each text. A target is a number that is larger in rare situations.
Hypothesis shows the largest value of each target. HypoFuzz searches for larger values, and so does the phase
`Phase.target` of Hypothesis, see profiles.py.
"""

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import currently_in_test_context, event, target

from epochfuzz.model.kafka.vocabulary import goals
from epochfuzz.model.kafka.vocabulary.events import Verb

# The rare situations, each with a number that a state has.
_SITUATIONS: dict[str, Callable[[Any], int]] = {
    "coverage goals met": lambda p: int(p.goals).bit_count(),
    "replicas that lead at the same time": lambda p: sum(p.known_leader[r] == r for r in range(p.replicas)),
    "leader epochs in one log": lambda p: max(_epochs_in_log(p, r) for r in range(p.replicas)),
    "records above a high watermark": lambda p: max(p.leo[r] - p.high_watermark[r] for r in range(p.replicas)),
}


class Statistics:
    """The statistics of one example under one protocol.

    `suffix` is added to each text, to distinguish the statistics of several protocols.
    """

    def __init__(self, suffix: str = "") -> None:
        self._suffix = suffix
        self._goals = 0
        self._largest = dict.fromkeys(_SITUATIONS, 0)
        self._verbs: set[Verb] = set()

    def note(self, state: Any, verb: Verb | None = None) -> None:
        """Record the state after an event. `verb` is None if the event was not enabled."""
        for name in met(int(state.goals) & ~self._goals):
            record(f"goal met{self._suffix}: {name}")
        self._goals = int(state.goals)
        if verb is None:
            return
        if verb not in self._verbs:
            self._verbs.add(verb)
            record(f"verb{self._suffix}: {verb.text}")
        for label, measure in _SITUATIONS.items():
            self._largest[label] = max(self._largest[label], measure(state))

    def end(self) -> None:
        """Report the targets of the example to Hypothesis."""
        if currently_in_test_context():
            for label, number in self._largest.items():
                target(number, label=label)


def met(bits: int) -> Iterator[str]:
    """Yield the names of the coverage goals in the set `bits`, which has a bit for each goal."""
    return (name for bit, name in enumerate(goals.NAMES) if bits >> bit & 1)


def record(text: str) -> None:
    """Record a text in Hypothesis's statistics. Outside of a Hypothesis test this has no effect."""
    if currently_in_test_context():
        event(text)


def _epochs_in_log(p: Any, r: int) -> int:
    return len({p.log_epoch[r] >> 4 * offset & 15 for offset in range(p.leo[r])})
