"""Statistics of examples for `--hypothesis-show-statistics`, Tyche and HypoFuzz, and targets for Hypothesis's search.

An event says that an example met a coverage goal, or that a verb happened in it. Hypothesis shows the share of examples
with each event. Targets are numbers that are larger in rare situations. Hypothesis shows the largest of each, and
HypoFuzz searches for larger ones. Hypothesis searches for them too in `Phase.target`, see profiles.py.
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
    """Record one example, which runs some protocols. `suffix` distinguishes the protocols in the events."""

    def __init__(self, suffix: str = "") -> None:
        self._suffix = suffix
        self._goals = 0
        self._largest = dict.fromkeys(_SITUATIONS, 0)
        self._verbs: set[Verb] = set()

    def note(self, state: Any, verb: Verb | None = None) -> None:
        """Record the state after an event, and the verb if the event was enabled."""
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
        """Give Hypothesis the targets of the example."""
        if currently_in_test_context():
            for label, number in self._largest.items():
                target(number, label=label)


def met(bits: int) -> Iterator[str]:
    """Yield the names of a set of goals."""
    return (name for bit, name in enumerate(goals.NAMES) if bits >> bit & 1)


def record(text: str) -> None:
    """Record an event of Hypothesis. A machine that runs outside of Hypothesis has no statistics."""
    if currently_in_test_context():
        event(text)


def _epochs_in_log(p: Any, r: int) -> int:
    return len({p.log_epoch[r] >> 4 * offset & 15 for offset in range(p.leo[r])})
