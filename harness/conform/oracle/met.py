"""Count the coverage points that a conformance run reaches, by following its events in the model.

There are three kinds of points. `branches` are the coverage goals of the model's rules. `transitions` are verbs that
were applied, and verbs that were not enabled, each with the reason. `pairs` are pairs of verbs that were applied one
after the other. A key in `Meeting.counts` consists of the kind and the name of a point.
"""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from epochfuzz.harness.conform.run.selection import Selection, schedule
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.vocabulary import goals
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, REFUSALS, Refusal

BRANCHES, TRANSITIONS, PAIRS = KINDS = ("branches", "transitions", "pairs")

_TRIED = 150  # schedules of the sample, which the interpreted model runs in a second
_SEED = 0


class Meeting:
    """Counts the coverage points that one schedule reaches."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._goals = 0
        self._last: Verb | None = None

    def note(self, event: int, refusal: Refusal, shown: int) -> None:
        """Count the coverage points that an event reaches.

        `refusal` is APPLIED, or the reason why the event is not enabled. `shown` is the set of coverage goals that
        the model has met so far, as bits.
        """
        verb = verb_of(event)
        if refusal is not APPLIED:
            self.counts[f"{TRANSITIONS} {verb.text} refused: {refusal.name}"] += 1
            return
        self.counts[f"{TRANSITIONS} {verb.text}"] += 1
        if self._last is not None:
            self.counts[f"{PAIRS} {self._last.text}, {verb.text}"] += 1
        self._last = verb
        if shown != self._goals:
            for bit, name in enumerate(goals.NAMES):
                if (shown & ~self._goals) >> bit & 1:
                    self.counts[f"{BRANCHES} {name}"] += 1
            self._goals = shown


def sent(met: Iterable[str]) -> set[str]:
    """Return the names of the verbs that were sent, taken from the names of the coverage points in `met`."""
    return {name.split()[0] for name in of_kind(met, TRANSITIONS)}


def of_kind(met: Iterable[str], kind: str) -> set[str]:
    """Return the names of the coverage points of one kind in `met`, without the kind."""
    return {name.removeprefix(f"{kind} ") for name in met if name.startswith(f"{kind} ")}


@lru_cache(maxsize=128)
def there_is(protocol: Protocol, settings: Configuration, verbs: frozenset[Verb] = frozenset(Verb)) -> frozenset[str]:
    """Return the coverage points that the model reaches in a sample of random schedules.

    The schedules have only events with `verbs`. The sample reaches most of the points that exist.
    """
    found: set[str] = set()
    for number in range(_TRIED):
        execution, meeting = Execution(protocol, settings), Meeting()
        for event in schedule(Selection.RANDOM, protocol, settings, _SEED, number):
            if verb_of(event) not in verbs:
                continue
            refusal = REFUSALS[execution.attempt(event)]
            if not refusal.is_bound:
                meeting.note(event, refusal, int(execution.state.goals))
        found |= meeting.counts.keys()
    return frozenset(found)
