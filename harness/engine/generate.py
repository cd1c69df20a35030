"""Random schedules: schedule number i of seed s is a function of (s, i) and the deck, and of nothing else.

A configuration has a deck of cards (`deck_for`): single events, and a few phrases such as an election and the news of
it, common ones many times. Each schedule deals itself a hand from the deck, with some verbs left out, and then draws
from the hand: swarm testing (Groce et al., 2012), in which a schedule that never crashes a replica can go deep
elsewhere. Nothing looks at the state of a replica; a protocol skips the events that it does not enable, so every
protocol runs the same schedules.
"""

import numpy as np
import numpy.typing as npt

from harness.engine.compilation import kernel, part
from model import events
from model.configuration import Configuration

Deck = npt.NDArray[np.uint8]  # a row for each card: PHRASE events, NO_EVENT where it has fewer

PHRASE = 2
NO_EVENT = 255
HAND = 128  # a power of two: seven bits draw a card
MAX_LENGTH = 480
GAMMA = np.uint64(0x9E3779B97F4A7C15)  # from one random word to the next
_CARDS = 9  # of seven bits, drawn with one random word

# How often each phrase is in the deck, for each replica. Replication has to make progress for faults to matter, and
# an election that nobody hears of is seldom the start of anything. These weights are where a random ascent ended that
# sought the least time to find the broken protocols of harness/defects: with seeds that it had not seen, two thirds of
# what it takes with guessed ones.
_WEIGHTS: dict[tuple[int, ...], int] = {
    (events.PRODUCE,): 9,
    (events.FETCH,): 6,
    (events.RECEIVE,): 3,
    (events.DROP,): 1,
    (events.CRASH,): 1,
    (events.POWER_LOSS,): 2,
    (events.RESTART,): 3,
    (events.NOTIFY,): 6,
    (events.CATCH_UP,): 1,
    (events.ELECT,): 6,
    (events.EXPIRE,): 1,
    (events.SHRINK,): 1,
    (events.EXPAND,): 1,
    (events.FLUSH,): 1,
    (events.CHECKPOINT,): 3,
    (events.FETCH, events.RECEIVE): 13,
    (events.ELECT, events.NOTIFY): 2,
    (events.FETCH, events.EXPAND): 4,
}

# Verbs without which nothing happens at all; each other one is left out of a schedule one time in four.
_ALWAYS = (events.PRODUCE, events.FETCH, events.RECEIVE, events.NOTIFY, events.RESTART)
_OPTIONAL = (1 << len(events.VERBS)) - 1 - sum(1 << verb for verb in _ALWAYS)


def deck_for(settings: Configuration) -> Deck:
    """The deck of a configuration: each phrase that it can enable, as often as its weight says."""
    possible = set(settings.alphabet())
    cards = []
    for replica in range(settings.replicas):
        for verbs, weight in _WEIGHTS.items():
            phrase = [events.encode(verb, replica) for verb in verbs]
            if possible.issuperset(phrase):
                cards += [phrase + [NO_EVENT] * (PHRASE - len(phrase))] * weight
    return np.array(cards, np.uint8)


def schedule(seed: int, number: int, deck: Deck) -> bytes:
    """Schedule `number` of a seed, as drawn: events that are not enabled are still in it."""
    hand, out = room()
    length = draw_schedule(np.uint64(seed), np.uint64(number), deck, hand, out)
    return out[:length].tobytes()


@part
def room():  # type: ignore[no-untyped-def]
    """Room for a hand and for a schedule; to be used again for the next one."""
    return np.empty((HAND + 3, PHRASE), np.uint8), np.empty(MAX_LENGTH + _CARDS * PHRASE, np.uint8)


@part
def scramble(value):  # type: ignore[no-untyped-def]
    """The finalizer of SplitMix64 (Steele, Lea and Flood, 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@part
def is_left_out(card, left_out):  # type: ignore[no-untyped-def]
    """1 for a card that has an event whose verb is in the set of those left out, otherwise 0."""
    return (left_out >> (card[0] >> 3) | left_out >> (card[1] >> 3)) & 1


@part
def deal(word, deck, left_out, hand):  # type: ignore[no-untyped-def]
    """Fill the hand with cards of the deck; `word` is the state of the generator, returned as it was left."""
    dealt = 0
    while dealt < HAND:
        word += GAMMA
        bits = scramble(word)
        for _ in range(4):
            card = deck[np.int64(((bits & np.uint64(0xFFFF)) * np.uint64(deck.shape[0])) >> np.uint64(16))]
            bits >>= np.uint64(16)
            hand[dealt] = card
            dealt += 1 - is_left_out(card, left_out)
    return word


@part
def first_word(seed, number):  # type: ignore[no-untyped-def]
    """Where the random words of a schedule begin; each next one is GAMMA further."""
    return scramble(scramble(seed + GAMMA) ^ (number * GAMMA))


@kernel
def draw_schedule(seed, number, deck, hand, out):  # type: ignore[no-untyped-def]
    """Write schedule `number` of `seed` to `out`; returns its length. Both are from `room`.

    A card is written whole, and what does not belong is written over by the next one: chance decides what each card
    is, and a processor would guess a branch on that wrong half of the time.
    """
    word = first_word(seed, number)
    left_out = np.int64(scramble(word)) & np.int64(scramble(word + GAMMA)) & _OPTIONAL
    word += GAMMA + GAMMA
    length = MAX_LENGTH - np.int64(scramble(word) % np.uint64(3 * MAX_LENGTH // 4))
    word = deal(word, deck, left_out, hand)
    drawn = 0
    while drawn < length:
        word += GAMMA
        bits = scramble(word)
        for _ in range(_CARDS):
            card = np.int64(bits & np.uint64(HAND - 1))
            bits >>= np.uint64(7)
            out[drawn] = hand[card, 0]
            out[drawn + 1] = hand[card, 1]
            drawn += 1 + (hand[card, 1] != NO_EVENT)
    return length
