"""Random schedules: schedule number i of seed s is a function of (s, i) and the deck, and of nothing else.

A configuration has a deck of events, common ones many times (`deck_for`). Each schedule deals itself a hand of 64
cards from the deck, with some verbs left out, and then draws from the hand: swarm testing (Groce et al., 2012), in
which a schedule that never crashes a replica can go deep elsewhere. The events are drawn without a look at any
replica's state; a protocol skips those that are not enabled. So every protocol runs the same schedules.
"""

import numpy as np

from harness.engine.compilation import kernel
from model import events
from model.configuration import Configuration

HAND = 64
MAX_LENGTH = 240

# How often each verb is in the deck, for each replica. Replication has to make progress for faults to matter.
_WEIGHTS = {
    events.PRODUCE: 4,
    events.FETCH: 8,
    events.RECEIVE: 8,
    events.NOTIFY: 6,
    events.RESTART: 3,
    events.ELECT: 2,
    events.SHRINK: 2,
    events.EXPAND: 2,
    events.FLUSH: 2,
    events.CHECKPOINT: 2,
}
_DEFAULT_WEIGHT = 1

# Verbs without which nothing happens at all; the others are left out of a schedule one time in four.
_ALWAYS = (events.PRODUCE, events.FETCH, events.RECEIVE, events.NOTIFY, events.RESTART)
_ALWAYS_MASK = sum(1 << verb for verb in _ALWAYS)


def deck_for(settings: Configuration) -> np.ndarray:
    """The deck of a configuration: event bytes, each as often as its weight says."""
    cards = [
        event for event in settings.alphabet() for _ in range(_WEIGHTS.get(events.verb_of(event), _DEFAULT_WEIGHT))
    ]
    return np.array(cards, np.uint8)


def schedule(seed: int, number: int, deck: np.ndarray) -> bytes:
    """Schedule `number` of a seed, as drawn: events that are not enabled are still in it."""
    out = np.empty(MAX_LENGTH, np.uint8)
    length = draw_schedule(np.uint64(seed), np.uint64(number), deck, np.empty(HAND, np.uint8), out)
    return out[:length].tobytes()


@kernel
def scramble(value):  # type: ignore[no-untyped-def]
    """The finalizer of SplitMix64 (Steele, Lea and Flood, 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@kernel
def draw_schedule(seed, number, deck, hand, out):  # type: ignore[no-untyped-def]
    """Write schedule `number` of `seed` to `out`; returns its length. `hand` is room for HAND events."""
    gamma = np.uint64(0x9E3779B97F4A7C15)
    word = scramble(scramble(seed + gamma) ^ (number * gamma))
    left_out = np.int64(scramble(word)) & np.int64(scramble(word + gamma)) & ~_ALWAYS_MASK
    word += gamma + gamma
    length = MAX_LENGTH - np.int64(scramble(word) % np.uint64(3 * MAX_LENGTH // 4))
    dealt = 0
    while dealt < HAND:
        word += gamma
        bits = scramble(word)
        for _ in range(4):
            card = deck[np.int64(((bits & np.uint64(0xFFFF)) * np.uint64(deck.shape[0])) >> np.uint64(16))]
            bits >>= np.uint64(16)
            if dealt < HAND and not (left_out >> (card >> 3)) & 1:
                hand[dealt] = card
                dealt += 1
    drawn = 0
    while drawn < length:
        word += gamma
        bits = scramble(word)
        for position in range(drawn, min(int(drawn + 10), int(length))):
            out[position] = hand[np.int64(bits & np.uint64(63))]
            bits >>= np.uint64(6)
        drawn += 10
    return length
