"""Random schedules: schedule number i of seed s is a function of (s, i) and the deck, and of nothing else.

A configuration has a deck of cards (`deck_for`): single events, and phrases such as an election, its notification and
the first record, common ones many times. Each schedule deals itself a hand from the deck, with some verbs left out, and
then draws from the hand: swarm testing (Groce et al., 2012), in which a schedule that never crashes a replica can go
deep elsewhere. Nothing looks at the state of a replica; a protocol skips the events that it does not enable, so every
protocol runs the same schedules.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.engine.runtime.compilation import compiled, kernel
from epochfuzz.model.core.model import Model, Protocol, Settings

PHRASE = 4
HAND = 128  # a power of two: seven bits draw a card
MAX_LENGTH = 480
GAMMA = np.uint64(0x9E3779B97F4A7C15)  # from one random word to the next
_CARDS = 9  # of seven bits, drawn with one random word


class Deck(NamedTuple):
    """Cards, the set of verbs that each has, and the sets of verbs to leave out.

    A card is one number, so that it is drawn as one: PHRASE events of a byte each, and above them how many there are.
    Each verb of the set `optional` is left out of a schedule one time in four. Those of `dead` are drawn, and left out
    of what comes of it.
    """

    cards: npt.NDArray[np.int64]
    verbs: npt.NDArray[np.int64]
    optional: int
    dead: int


def deck_for(model: Model, settings: Settings, protocols: Iterable[Protocol] = ()) -> Deck:
    """Return the deck of some settings: each phrase that they can enable, as often as its weight says.

    What is drawn depends on the settings, and on the protocols only where these can enable a particular verb
    (Cards.particular). Other verbs that are possible under none of some protocols are dead.
    """
    starts = [model.initial(protocol, settings) for protocol in protocols]
    enabled = {event >> 3 for event in model.events.possible(*starts)} if starts else set()
    absent = model.cards.particular - enabled
    drawn = {event for event in settings.alphabet() if event >> 3 not in absent}
    cards = []
    for replica in range(settings.replicas):
        for verbs, weight in model.cards.phrases.items():
            phrase = [verb << 3 | replica for verb in verbs]
            if drawn.issuperset(phrase):
                cards += [phrase] * weight
    verbs_drawn = {event >> 3 for event in drawn}
    possible = enabled if starts else verbs_drawn
    optional = _set_of(verbs_drawn - model.cards.vital)
    packed = [len(phrase) << 8 * PHRASE | int.from_bytes(bytes(phrase), "little") for phrase in cards]
    held = [_set_of({event >> 3 for event in phrase}) for phrase in cards]
    return Deck(np.array(packed, np.int64), np.array(held, np.int64), optional, _set_of(verbs_drawn - possible))


def _set_of(verbs: Iterable[int]) -> int:
    return sum(1 << verb for verb in verbs)


def schedule(seed: int, number: int, deck: Deck) -> bytes:
    """Schedule `number` of a seed, as drawn: events that are not enabled are still in it."""
    hand, out = room()
    length = compiled(draw_schedule)(np.uint64(seed), np.uint64(number), deck, hand, out)
    return out[:length].tobytes()


def room():  # type: ignore[no-untyped-def]
    """Room for a hand and for a schedule; to be used again for the next one."""
    return np.empty(HAND + 3, np.int64), np.empty(MAX_LENGTH + _CARDS * PHRASE, np.uint8)


def scramble(value):  # type: ignore[no-untyped-def]
    """Scramble a word: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def deal(word, cards, verbs, left_out, hand):  # type: ignore[no-untyped-def]
    """Fill the hand with cards of the deck; `word` is the state of the generator, returned as it is after that."""
    dealt = 0
    while dealt < HAND:
        word += GAMMA
        bits = scramble(word)
        for _ in range(4):
            card = ((bits & np.uint64(0xFFFF)) * np.uint64(cards.shape[0])) >> np.uint64(16)
            bits >>= np.uint64(16)
            hand[dealt] = cards[card]
            dealt += verbs[card] & left_out == 0
    return word


def first_word(seed, number):  # type: ignore[no-untyped-def]
    """Where the random words of a schedule begin; each next one is GAMMA further."""
    return scramble(scramble(seed + GAMMA) ^ (number * GAMMA))


@kernel
def draw_schedule(seed, number, deck, hand, out):  # type: ignore[no-untyped-def]
    """Write schedule `number` of `seed` to `out`; returns its length. Both are from `room`.

    A card is written whole, and what does not belong is written over by the next one: chance decides what each card
    is, and a processor would guess a branch on that wrong half of the time.
    """
    cards, verbs, optional, dead = deck
    word = first_word(seed, number)
    left_out = np.int64(scramble(word)) & np.int64(scramble(word + GAMMA)) & optional
    word += GAMMA + GAMMA
    length = MAX_LENGTH - np.int64(scramble(word) % np.uint64(3 * MAX_LENGTH // 4))
    word = deal(word, cards, verbs, left_out, hand)
    drawn = 0
    while drawn < length:
        word += GAMMA
        bits = scramble(word)
        for _ in range(_CARDS):
            card = hand[bits & np.uint64(HAND - 1)]
            bits >>= np.uint64(7)
            for i in range(PHRASE):
                out[drawn + i] = card >> 8 * i & 0xFF
            drawn += card >> 8 * PHRASE
    return length if dead == 0 else without_dead(out, length, dead)


def without_dead(out, length, dead):  # type: ignore[no-untyped-def]
    """Leave events of dead verbs out of a schedule; returns its new length."""
    kept = 0
    for i in range(length):
        event = out[i]
        out[kept] = event
        kept += 1 - (dead >> (event >> 3) & 1)
    return kept
