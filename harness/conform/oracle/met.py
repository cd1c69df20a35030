"""Met: what a subject was driven through, by the model that runs along, and what of that there is.

Three kinds of things, by name: `branches` of rules are the coverage goals of the model; `transitions` are verbs that
applied, and verbs that were refused with the reason; `pairs` are two verbs that applied one after the other. How often
each was met is counted under `kind name`.
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

_TRIED = 150  # schedules in which the model is tried out, interpreted: a second
_SEED = 0


class Meeting:
    """Notes what one schedule meets."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._goals = 0
        self._last: Verb | None = None

    def note(self, event: int, refusal: Refusal, shown: int) -> None:
        """Note what came of an event; `shown` are the goals that the model has met by now."""
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


def of_kind(met: Iterable[str], kind: str) -> set[str]:
    """Return the names of one kind."""
    return {name.removeprefix(f"{kind} ") for name in met if name.startswith(f"{kind} ")}


@lru_cache(maxsize=32)
def there_is(protocol: Protocol, settings: Configuration) -> frozenset[str]:
    """Return what the model itself meets in some schedules at random, which is most of what there is."""
    found: set[str] = set()
    for number in range(_TRIED):
        execution, meeting = Execution(protocol, settings), Meeting()
        for event in schedule(Selection.RANDOM, protocol, settings, _SEED, number):
            refusal = REFUSALS[execution.attempt(event)]
            if not refusal.is_bound:
                meeting.note(event, refusal, int(execution.state.goals))
        found |= meeting.counts.keys()
    return frozenset(found)
