"""Choose, from many random schedules, those that reach the most new situations in a slow system under test.

A situation (Points.of) is a coverage point: an event and the state around it. A step in the model is thousands of times
faster than in a system under test. So for each schedule that it returns, the chooser draws CANDIDATES random schedules
and runs them in the model. The chooser truncates each candidate after the prefix with the highest worth per step, and
takes the candidate whose prefix is worth the most per step. A step is worth less if similar steps were chosen before.
Similar steps have equal situations, and their replicas have equal shapes. The shape (Points.shape) describes a replica
relative to the others. Half of the drawn events are not enabled, and the chooser keeps only a few of these.

The counts of chosen steps start at zero again for each group of GROUP schedules. So schedule number i of seed s depends
only on (s, i), the protocol, the settings and the limits. It does not depend on the process that chooses it.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from epochfuzz.harness.engine.runtime.compilation import compiled_for, kernel_of_model
from epochfuzz.harness.engine.walk import generate
from epochfuzz.model.core.model import APPLIED, MODEL, Protocol, Settings

CANDIDATES = 64
GROUP = 1_000  # to get the last schedule of a group, a process chooses the whole group in half a second of one core
MOST_STEPS = 40  # of a schedule: further steps are worth less than a new schedule

_PLACES = 1 << 20  # number of counts, indexed by hash
_START = 30  # added to the length of a prefix, because otherwise the shortest prefix would always win
_RARE = 250  # applied events for each rejected event that is sent, separately for each reason of rejection
_BITS = 8  # bits for the number of a reason of rejection
_MOST_ANSWERS = 1 << _BITS
_WORTH = 1 << 20  # worth of a step that was never chosen before
_REFUSED = 1 << 40  # above all numbers of situations, so that rejected events have numbers of their own


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a chosen schedule: at most `steps` enabled events, and at most `most_slow` with a verb in `slow`.

    A verb is a kind of event. `verbs` are the allowed verbs, None for all. If `refused` is False, schedules contain
    enabled events only. `unsent` holds the numbers of reasons for a rejection. A schedule contains no event that the
    model rejects for a reason in `unsent`.
    """

    steps: int = MOST_STEPS
    refused: bool = True
    unsent: tuple[int, ...] = ()
    verbs: tuple[int, ...] | None = None
    slow: tuple[int, ...] = ()
    most_slow: int = MOST_STEPS


class Chooser:
    """Chooses the schedules of one seed for a slow system under test.

    The chooser is fastest if you ask for the schedules in ascending order of their numbers.
    """

    def __init__(self, protocol: Protocol, settings: Settings, seed: int, limits: Limits) -> None:
        model = protocol.model
        start = model.initial(protocol, settings)
        self._start = start.to_record().reshape(1)
        deck = generate.deck_for(model, settings, [protocol])
        if limits.verbs is not None:
            drawn = set(map(model.events.verb_number, settings.alphabet()))
            wanted = generate.enabled_verbs(model, [start]).intersection(limits.verbs)
            deck = deck._replace(dead=generate.dead_events(model, drawn - wanted))
        self._deck = deck
        self._limits = (limits.steps, int(limits.refused), _set_of(limits.slow), limits.most_slow)
        unsent = np.zeros(_MOST_ANSWERS, np.bool_)
        unsent[list(limits.unsent)] = True
        self._unsent = unsent
        self._seed = seed
        self._choose = compiled_for(model, choose_next, [start])
        self._group, self._chosen = -1, list[bytes]()
        self._counts, self._answers = np.zeros(0, np.int32), np.zeros(_MOST_ANSWERS, np.int64)

    def schedule(self, number: int) -> bytes:
        """Return schedule `number`: the events to send to the system under test, in order."""
        group, place = divmod(number, GROUP)
        if group != self._group:
            self._group, self._chosen = group, []
            self._counts, self._answers = np.zeros(_PLACES, np.int32), np.zeros(_MOST_ANSWERS, np.int64)
        while len(self._chosen) <= place:
            events = self._choose(
                self._start, np.uint64(self._seed), group * GROUP + len(self._chosen), self._deck,
                self._limits, self._unsent, self._counts, self._answers,
            )  # fmt: skip
            self._chosen.append(events.tobytes())
        return self._chosen[place]

    @property
    def met(self) -> int:
        """The number of different steps in the current group's chosen schedules.

        Two steps differ if their situations (Coverage.of) or their replicas' shapes (Coverage.shape) differ. Rejected
        events differ by verb, reason and shape. Steps are counted by hash, so the number may be slightly too low.
        """
        return int(np.count_nonzero(self._counts))


@lru_cache(maxsize=4)
def chooser(protocol: Any, settings: Any, seed: int, limits: Limits) -> Chooser:
    """Return the Chooser of a seed. A cache holds the last four, so equal arguments return the same Chooser."""
    return Chooser(protocol, settings, seed, limits)


def _set_of(verbs: tuple[int, ...]) -> int:
    return sum(1 << verb for verb in verbs)


def place_of(shape, what):  # type: ignore[no-untyped-def]
    """Return the index in the array `counts` for a step at a replica of the given shape.

    `what` is the number of the step's situation, or a number that stands for a rejected event.
    """
    return np.int64(generate.scramble(np.uint64(shape) * generate.GAMMA ^ np.uint64(what)) & np.uint64(_PLACES - 1))


def refused_at(shape, event, refusal):  # type: ignore[no-untyped-def]
    """Return the index in the array `counts` for an event that is rejected at a replica of the given shape.

    `refusal` is the number of the reason.
    """
    return place_of(shape, _REFUSED | MODEL.events.verb_number(event) << _BITS | refusal)


def weigh(p, drawn, length, limits, unsent, counts, answers, kept, mine, candidate):  # type: ignore[no-untyped-def]
    """Run a candidate (a drawn schedule) in the model, and write the events that are worth sending to `kept`.

    A step is worth more if similar steps were seldom chosen before. Returns three numbers for the prefix of `kept` with
    the highest worth per step: its worth, a divisor, and its number of events. The worth per step is the worth divided
    by the divisor.
    """
    steps, with_refused, slow, most_slow = limits
    worth = sent = applied = slows = 0  # `sent` counts rejected events too, `applied` does not
    best, over, best_sent = 0, 1, 0
    refused = with_refused == 0  # at most one event that is not enabled is sent in each state
    for position in range(length):
        event = drawn[position]
        r, verb = MODEL.events.replica_of(event), MODEL.events.verb_number(event)
        if slow >> verb & 1 and slows == most_slow:
            continue
        before, shape = MODEL.points.before(p, r), MODEL.points.shape(p, r)
        refusal = MODEL.step(p, event)
        if refusal != APPLIED:
            is_rare = _RARE * answers[refusal] <= answers[APPLIED] and mine[refusal] != candidate
            if is_rare and not refused and not unsent[refusal] and counts[refused_at(shape, event, refusal)] == 0:
                refused = True
                mine[refusal] = candidate
                worth += _WORTH
                kept[sent] = event
                sent += 1
            continue
        worth += _WORTH // (1 + counts[place_of(shape, MODEL.points.of(p, event, before))])
        kept[sent] = event
        sent += 1
        applied += 1
        slows += slow >> verb & 1
        refused = with_refused == 0
        # Compare the worth per step of two prefixes by products, which are exact and need no floating point.
        if worth * over > best * (sent + _START):
            best, over, best_sent = worth, sent + _START, sent
        if applied == steps:
            break
    return best, over, best_sent


def count(p, events, length, counts, answers):  # type: ignore[no-untyped-def]
    """Run a chosen schedule in the model, and count its steps.

    Adds the steps to `counts` by situation and shape, and to `answers` by result (APPLIED or the number of a reason).
    """
    for i in range(length):
        event = events[i]
        r = MODEL.events.replica_of(event)
        before, shape = MODEL.points.before(p, r), MODEL.points.shape(p, r)
        refusal = MODEL.step(p, event)
        answers[refusal] += 1
        if refusal != APPLIED:
            counts[refused_at(shape, event, refusal)] += 1
        else:
            counts[place_of(shape, MODEL.points.of(p, event, before))] += 1


@kernel_of_model
def choose_next(start, seed, number, deck, limits, unsent, counts, answers):  # type: ignore[no-untyped-def]
    """Choose schedule `number` of a seed, add its steps to the counts, and return its events.

    `counts` holds the counts by situation and shape. `answers` holds the counts by the result of a step.
    """
    hand, drawn = generate.room()
    kept, chosen = np.empty(2 * generate.MAX_LENGTH, np.uint8), np.empty(2 * generate.MAX_LENGTH, np.uint8)
    mine = np.zeros(answers.shape[0], np.int64)  # by reason: the last candidate with an event rejected for it
    record = start.copy()  # a copy, because the caller needs the start unchanged
    best, over, chosen_length = 0, 1, 0
    for candidate in range(1, CANDIDATES + 1):
        drawn_length = generate.draw_schedule(seed, np.uint64(number * CANDIDATES + candidate), deck, hand, drawn)
        record[0] = start[0]
        worth, steps, sent = weigh(
            record[0], drawn, drawn_length, limits, unsent, counts, answers, kept, mine, candidate
        )
        if worth * over > best * steps:
            best, over, chosen_length = worth, steps, sent
            for i in range(sent):
                chosen[i] = kept[i]
    record[0] = start[0]
    count(record[0], chosen, chosen_length, counts, answers)
    return chosen[:chosen_length]
