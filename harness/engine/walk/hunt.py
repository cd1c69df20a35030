"""Find the first random schedule that breaks a property of a protocol, with a choice of strategies.

A strategy draws schedule number i of seed s. All strategies draw from the model's events:

- `uniform`: every event is equally likely.
- `swarm`: the strategy of every random run, see generate.py.
- `guided`: like coverage-guided fuzzers. A block of schedules keeps each schedule that reached a situation (coverage
  point) that is new to the block. Most later schedules of the block begin with a part of a kept schedule, and end
  differently. A block depends only on its own schedules, so schedule i still depends only on (s, i).
"""

import numpy as np

from epochfuzz.harness.engine.runtime.compilation import compiled_for, kernel_of_model
from epochfuzz.harness.engine.walk import generate
from epochfuzz.model.core.model import APPLIED, MODEL, Protocol, Settings

STRATEGIES = ("uniform", "swarm", "guided")
UNIFORM, SWARM, GUIDED = range(len(STRATEGIES))
BLOCK = 1 << 16  # a guided schedule depends on the earlier schedules of its block

_KEPT = 1024  # schedules that a block keeps
_NOT_FOUND = -1


class Hunter:
    """Searches for a random schedule that breaks one of the `judged` properties (a bit for each) under a protocol."""

    def __init__(self, protocol: Protocol, settings: Settings, judged: int) -> None:
        self.settings = settings
        self.judged = judged
        model = protocol.model
        start = model.initial(protocol, settings)
        self._start = start.to_record().reshape(1)
        self._deck = generate.deck_for(model, settings, [protocol])
        self._alphabet = np.frombuffer(model.events.possible(start), np.uint8)
        self._hunt_block = compiled_for(model, hunt_block, [start])

    def first(self, strategy: str, seed: int, most: int) -> tuple[int, bytes] | None:
        """Return (number, events) of the first schedule that breaks a property, among `most` schedules, or None.

        `strategy` is a name in STRATEGIES. The events are the schedule's enabled events up to the violation.
        """
        for block in range(0, most, BLOCK):
            number, schedule = self._hunt_block(
                self._start, STRATEGIES.index(strategy), np.uint64(seed), block, min(BLOCK, most - block),
                self._deck, self._alphabet, self.judged,
            )  # fmt: skip
            if number != _NOT_FOUND:
                return int(number), schedule.tobytes()
        return None


def below(word, shift, end):  # type: ignore[no-untyped-def]
    """Return a number from 0 to end - 1, computed from sixteen bits of a random word, from bit `shift` on."""
    return np.int64((((word >> np.uint64(shift)) & np.uint64(0xFFFF)) * np.uint64(end)) >> np.uint64(16))


def draw_uniform(seed, number, alphabet, out):  # type: ignore[no-untyped-def]
    """Write a schedule of equally likely events to `out`, and return its length."""
    word = generate.first_word(seed, number)
    length = generate.MAX_LENGTH - below(generate.scramble(word), 0, 3 * generate.MAX_LENGTH // 4)
    for i in range(length):
        word += generate.GAMMA
        out[i] = alphabet[below(generate.scramble(word), 0, alphabet.shape[0])]
    return length


def breaks(p, drawn, length, judged, met):  # type: ignore[no-untyped-def]
    """Run a schedule until it breaks one of the `judged` properties, and replace `drawn` with its enabled events.

    Returns whether the schedule broke a property, the number of enabled events, and the number of new situations
    (coverage points). `met` has a flag for each situation, and the function sets the flags of new ones. If `met` is
    empty, the function does not count situations.
    """
    applied = new = 0
    for position in range(length):
        event = drawn[position]
        r = MODEL.events.replica_of(event)
        before = MODEL.points.before(p, r)
        if MODEL.step(p, event) != APPLIED:
            continue
        drawn[applied] = event
        applied += 1
        if MODEL.judgement.now(p) & judged:
            return True, applied, new
        if met.shape[0]:
            seen = MODEL.points.of(p, event, before)
            new += not met[seen]
            met[seen] = True
    broken = judged & MODEL.judgement.at_end != 0 and MODEL.judgement.end(p) & judged != 0
    return broken, applied, new


def begin_as(kept, lengths, count, word, drawn, length):  # type: ignore[no-untyped-def]
    """Choose a schedule in `kept` at random, and put its beginning in front of a drawn schedule.

    Returns the new length.
    """
    choice = below(word, 0, count)
    cut = 1 + below(word, 16, lengths[choice])
    rest = min(length, generate.MAX_LENGTH - cut)
    # Copy from the end, because source and target overlap.
    for i in range(rest - 1, -1, -1):
        drawn[cut + i] = drawn[i]
    for i in range(cut):
        drawn[i] = kept[choice, i]
    return cut + rest


def keep(kept, lengths, count, number, drawn, applied):  # type: ignore[no-untyped-def]
    """Store the enabled events of a schedule in `kept`, so that later schedules can begin with them.

    If `kept` is full, the events replace an older schedule. Returns the number of kept schedules.
    """
    place = count if count < _KEPT else number % _KEPT
    for i in range(applied):
        kept[place, i] = drawn[i]
    lengths[place] = applied
    return min(_KEPT, count + 1)


@kernel_of_model
def hunt_block(start, strategy, seed, first, count, deck, alphabet, judged):  # type: ignore[no-untyped-def]
    """Run a block of schedules until a schedule breaks any of the `judged` properties (a bit for each).

    Returns the number and the enabled events of this schedule. If no schedule breaks a property, returns -1 and no
    events.
    """
    hand, drawn = generate.room()
    met = np.zeros(MODEL.points.most if strategy == GUIDED else 0, np.bool_)
    kept = np.empty((_KEPT, generate.MAX_LENGTH), np.uint8)
    lengths = np.zeros(_KEPT, np.int64)
    record = start.copy()
    kept_count = 0
    for number in range(first, first + count):
        record[0] = start[0]
        if strategy == UNIFORM:
            length = draw_uniform(seed, np.uint64(number), alphabet, drawn)
        else:
            length = generate.draw_schedule(seed, np.uint64(number), deck, hand, drawn)
        if strategy == GUIDED and kept_count > 0:
            word = generate.scramble(generate.first_word(seed, np.uint64(number)))
            if word & np.uint64(3):  # one schedule in four stays as it was drawn
                length = begin_as(kept, lengths, kept_count, word >> np.uint64(2), drawn, length)
        broken, applied, new = breaks(record[0], drawn, length, judged, met)
        if broken:
            return number, drawn[:applied]
        if new > 0 and applied > 0:
            kept_count = keep(kept, lengths, kept_count, number, drawn, applied)
    return _NOT_FOUND, drawn[:0]
