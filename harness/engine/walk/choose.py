"""Choosing: schedules for a system that is slow, each the best of many drawn, by what it has not been through.

The model steps thousands of times faster than a subject. So it draws CANDIDATES for each schedule that is played,
leaves out what does nothing, and takes the one that is worth most for each step. What a step is worth falls with how
often the like of it was chosen before: the same situation (Points.of) after the same last events, each by its kind. Of
a candidate the beginning is taken that is worth most, so that no schedule ends in steps that are well known.

What is known begins anew with each group of GROUP schedules. So schedule number i of seed s depends on (s, i), the
protocol and the settings, whoever plays which of them.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from epochfuzz.harness.engine.runtime.compilation import compiled_for, kernel_of_model
from epochfuzz.harness.engine.walk import generate
from epochfuzz.model.core.model import APPLIED, MODEL, Protocol, Settings

CANDIDATES = 64
GROUP = 1_000  # five to ten seconds of one core
MOST_STEPS = 90  # of a schedule; what comes later is worth less than to start over

_PLACES = 1 << 20  # for what is counted, by hash
_START = 30  # a beginning has to be worth that many steps more, or the shortest would always be the best
_REMEMBERED = 4  # events before a step
_REFUSALS = 8  # one step in so many is for events that are refused
_BITS = 8  # of the kind of a situation
_WORTH = 1 << 20  # of what was never chosen
_EVERY_VERB = (1 << 32) - 1


@dataclass(frozen=True)
class Limits:
    """What a player cannot do, or not often: how many steps, only which verbs, `most_slow` of the `slow` ones.

    Without `refused`, events that are refused are left out. `unsent` are refusals, by number, that are none to it.
    """

    steps: int = MOST_STEPS
    refused: bool = True
    unsent: tuple[int, ...] = ()
    verbs: tuple[int, ...] | None = None
    slow: tuple[int, ...] = ()
    most_slow: int = MOST_STEPS


class Chooser:
    """Chooses the schedules of a seed. It is quick where they are asked for in order."""

    def __init__(self, protocol: Protocol, settings: Settings, seed: int, limits: Limits) -> None:
        model = protocol.model
        start = model.initial(protocol, settings)
        self._start = start.to_record().reshape(1)
        deck = generate.deck_for(model, settings, [protocol])
        left_out = 0 if limits.verbs is None else ~_set_of(limits.verbs) & _EVERY_VERB
        self._deck = deck._replace(dead=deck.dead | left_out)
        self._limits = (limits.steps, int(limits.refused), _set_of(limits.slow), limits.most_slow)
        unsent = np.zeros(1 << _BITS, np.bool_)
        unsent[list(limits.unsent)] = True
        self._unsent = unsent
        self._seed = seed
        self._choose = compiled_for(model, choose_next, [start])
        self._group, self._chosen = -1, list[bytes]()
        self._counts, self._spent = np.zeros(0, np.int32), np.zeros(2, np.int64)

    def schedule(self, number: int) -> bytes:
        """Return schedule `number`: the events to send, in order."""
        group, place = divmod(number, GROUP)
        if group != self._group:
            self._group, self._chosen = group, []
            self._counts, self._spent = np.zeros(_PLACES, np.int32), np.zeros(2, np.int64)
        while len(self._chosen) <= place:
            events = self._choose(
                self._start, np.uint64(self._seed), group * GROUP + len(self._chosen), self._deck,
                self._limits, self._unsent, self._counts, self._spent,
            )  # fmt: skip
            self._chosen.append(events.tobytes())
        return self._chosen[place]

    @property
    def met(self) -> int:
        """How many different things the chosen schedules of the group have met, as far as they are told apart."""
        return int(np.count_nonzero(self._counts))


@lru_cache(maxsize=4)
def chooser(protocol: Any, settings: Any, seed: int, limits: Limits) -> Chooser:
    """Return the chooser of a seed, with what it has chosen before in this process."""
    return Chooser(protocol, settings, seed, limits)


def _set_of(verbs: tuple[int, ...]) -> int:
    return sum(1 << verb for verb in verbs)


def place_of(before, what):  # type: ignore[no-untyped-def]
    """Return the place of something that happened, after something else."""
    return np.int64(generate.scramble(before * generate.GAMMA ^ what) & np.uint64(_PLACES - 1))


def refusal_after(last, event, refusal):  # type: ignore[no-untyped-def]
    """Return the place of a refusal, after the last event."""
    what = np.uint64(1) << np.uint64(40) | np.uint64(event >> 3) << np.uint64(_BITS) | np.uint64(refusal)
    return place_of(last & np.uint64((1 << _BITS) - 1), what)


def is_new(counts, last, event, refusal):  # type: ignore[no-untyped-def]
    """Whether no schedule has met a refusal after the last event."""
    return counts[refusal_after(last, event, refusal)] == 0


def remember(last, situation):  # type: ignore[no-untyped-def]
    """Return the kinds of the last events, the newest among them."""
    kind = np.uint64(MODEL.points.kind_of(situation))
    return (last << np.uint64(_BITS) | kind) & np.uint64((1 << _BITS * _REMEMBERED) - 1)


def weigh(p, drawn, length, limits, unsent, counts, spent, kept):  # type: ignore[no-untyped-def]
    """Run a candidate, and keep the events that are to be sent.

    Returns what its best beginning is worth, by how many steps, and how many of those are its own.
    """
    steps, with_refused, slow, most_slow = limits
    last = np.uint64(0)
    worth = sent = applied = slows = 0  # what is sent and not applied is refused
    best, over, best_sent = 0, 1, 0
    refused = with_refused == 0  # of the events that are refused in a state, one is sent
    for position in range(length):
        event = drawn[position]
        if slow >> (event >> 3) & 1 and slows == most_slow:
            continue
        before = MODEL.points.before(p, event & 7)
        refusal = MODEL.step(p, event)
        if refusal != APPLIED:
            may_be_sent = not refused and not unsent[refusal]
            refusals = spent[0] + sent - applied
            if may_be_sent and _REFUSALS * refusals <= spent[1] + sent and is_new(counts, last, event, refusal):
                refused = True
                worth += _WORTH
                kept[sent] = event
                sent += 1
            continue
        situation = MODEL.points.of(p, event, before)
        worth += _WORTH // (1 + counts[place_of(last, np.uint64(situation))])
        last = remember(last, situation)
        kept[sent] = event
        sent += 1
        applied += 1
        slows += slow >> (event >> 3) & 1
        refused = with_refused == 0
        if worth * over > best * (sent + _START):
            best, over, best_sent = worth, sent + _START, sent
        if applied == steps:
            break
    return best, over, best_sent


def count(p, events, length, counts, spent):  # type: ignore[no-untyped-def]
    """Count what a schedule meets that was chosen."""
    last = np.uint64(0)
    for i in range(length):
        event = events[i]
        before = MODEL.points.before(p, event & 7)
        refusal = MODEL.step(p, event)
        spent[1] += 1
        if refusal != APPLIED:
            spent[0] += 1
            counts[refusal_after(last, event, refusal)] += 1
            continue
        situation = MODEL.points.of(p, event, before)
        counts[place_of(last, np.uint64(situation))] += 1
        last = remember(last, situation)


@kernel_of_model
def choose_next(start, seed, number, deck, limits, unsent, counts, spent):  # type: ignore[no-untyped-def]
    """Choose schedule `number`, and count what it meets. `spent`: steps on events that were refused, and all."""
    hand, drawn = generate.room()
    kept, chosen = np.empty(2 * generate.MAX_LENGTH, np.uint8), np.empty(2 * generate.MAX_LENGTH, np.uint8)
    record = start.copy()
    best, over, chosen_length = 0, 1, 0
    for candidate in range(CANDIDATES):
        drawn_length = generate.draw_schedule(seed, np.uint64(number * CANDIDATES + candidate), deck, hand, drawn)
        record[0] = start[0]
        worth, steps, sent = weigh(record[0], drawn, drawn_length, limits, unsent, counts, spent, kept)
        if worth * over > best * steps:
            best, over, chosen_length = worth, steps, sent
            for i in range(sent):
                chosen[i] = kept[i]
    record[0] = start[0]
    count(record[0], chosen, chosen_length, counts, spent)
    return chosen[:chosen_length]
