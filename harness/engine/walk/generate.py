"""Draw random schedules from a deck of cards. Schedule number i of seed s depends only on (s, i) and the deck.

A card is a single event, or a short sequence (phrase) such as an election, its notification and the first record.
Common cards are in the deck many times. For each schedule, the generator first leaves out some verbs (kinds of events)
at random. It deals a hand (a random selection of cards) without these verbs, and then draws the schedule from the hand.
This is swarm testing (Groce et al., 2012): a schedule that never crashes a replica can reach deep states elsewhere. The
generator does not look at states. Events that are not enabled have no effect, so several protocols can run one
schedule.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.engine.runtime.compilation import compiled, kernel
from epochfuzz.model.core.fields import State
from epochfuzz.model.core.model import Model, Protocol, Settings

PHRASE = 4
HAND = 128  # cards in a hand; a power of two, so that seven random bits select a card
MAX_LENGTH = 480
GAMMA = np.uint64(0x9E3779B97F4A7C15)  # step from one random word to the next, as in SplitMix64
_CARDS = 9  # cards drawn from one random word, seven bits each


class Deck(NamedTuple):
    """The cards that schedules are drawn from, and the verbs that schedules leave out.

    A card is a short sequence of events, stored as an int. The low bytes hold up to PHRASE events, and the bits above
    them hold the number of events. So one load from memory reads a card. `verbs` holds the set of verbs on each card. A
    schedule leaves out each verb in the set `optional` with a probability of 25 percent. `dead` has a flag for each
    event: True if the event is drawn, and then removed from the schedule. `dead` is empty if no event is removed.
    """

    cards: npt.NDArray[np.int64]
    verbs: npt.NDArray[np.int64]
    optional: int
    dead: npt.NDArray[np.bool_]


def deck_for(model: Model, settings: Settings, protocols: Iterable[Protocol] = ()) -> Deck:
    """Return the deck of cards for some settings. Schedules are drawn from the deck.

    A card holds a phrase, which is a short sequence of events at one replica. The weight of a phrase is the number of
    its copies in the deck, for each replica. The deck contains all phrases that the settings can enable, with one
    exception. It contains a phrase with a particular verb (a kind of event in `Cards.particular`) only if one of the
    protocols can enable the verb. Every other verb is dead if no protocol can enable it: events with a dead verb are
    drawn, and then removed from the schedule. If `protocols` is empty, the deck has no particular verb and no dead
    verb.
    """
    number_of = model.events.verb_number
    starts = [model.initial(protocol, settings) for protocol in protocols]
    enabled = enabled_verbs(model, starts)
    absent = model.cards.particular - enabled
    drawn = {event for event in settings.alphabet() if number_of(event) not in absent}
    cards = []
    for replica in range(settings.replicas):
        for verbs, weight in model.cards.phrases.items():
            phrase = [model.events.encode(verb, replica) for verb in verbs]
            if drawn.issuperset(phrase):
                cards += [phrase] * weight
    verbs_drawn = set(map(number_of, drawn))
    possible = enabled if starts else verbs_drawn
    optional = _set_of(verbs_drawn - model.cards.vital)
    packed = [len(phrase) << 8 * PHRASE | int.from_bytes(bytes(phrase), "little") for phrase in cards]
    held = [_set_of(set(map(number_of, phrase))) for phrase in cards]
    dead = dead_events(model, verbs_drawn - possible)
    return Deck(np.array(packed, np.int64), np.array(held, np.int64), optional, dead)


def enabled_verbs(model: Model, starts: Sequence[State]) -> set[int]:
    """Return the verbs that can become enabled in a run from at least one of some initial states."""
    return set(map(model.events.verb_number, model.events.possible(*starts))) if starts else set()


def particular_verbs(model: Model, start: State) -> frozenset[int]:
    """Return the verbs in `Cards.particular` that can become enabled in a run from an initial state.

    These verbs are in a deck only if a protocol can enable them. Protocols with equal results can use one deck.
    """
    return model.cards.particular & enabled_verbs(model, [start])


def dead_events(model: Model, verbs: Iterable[int]) -> npt.NDArray[np.bool_]:
    """Return a flag for each of the 256 events: True if its verb is in `verbs`. Without `verbs`, return no flags."""
    dead = set(verbs)
    return np.array([model.events.verb_number(event) in dead for event in range(256 * bool(dead))], np.bool_)


def _set_of(verbs: Iterable[int]) -> int:
    return sum(1 << verb for verb in verbs)


def schedule(seed: int, number: int, deck: Deck) -> bytes:
    """Return schedule `number` of a seed. The schedule may contain events that are not enabled."""
    hand, out = room()
    length = compiled(draw_schedule)(np.uint64(seed), np.uint64(number), deck, hand, out)
    return out[:length].tobytes()


def room():  # type: ignore[no-untyped-def]
    """Return two buffers, for the cards that are drawn and for the schedule. All schedules reuse these buffers."""
    # `deal` and `draw_schedule` check the length after each random word only, so both buffers need room beyond the end.
    return np.empty(HAND + 3, np.int64), np.empty(MAX_LENGTH + _CARDS * PHRASE, np.uint8)


def scramble(value):  # type: ignore[no-untyped-def]
    """Return a scrambled 64-bit word: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def deal(word, cards, verbs, left_out, hand):  # type: ignore[no-untyped-def]
    """Fill `hand` with random cards of the deck that have no verb in `left_out`.

    A card is a short sequence of events. A schedule is drawn from the cards in `hand`. `word` is the state of the
    random generator. Returns the new state.
    """
    dealt = 0
    while dealt < HAND:
        word += GAMMA
        bits = scramble(word)
        for _ in range(4):
            # The product maps sixteen bits to a card without a division.
            card = ((bits & np.uint64(0xFFFF)) * np.uint64(cards.shape[0])) >> np.uint64(16)
            bits >>= np.uint64(16)
            # No branch: the next card overwrites a card that is left out.
            hand[dealt] = cards[card]
            dealt += verbs[card] & left_out == 0
    return word


def first_word(seed, number):  # type: ignore[no-untyped-def]
    """Return the first random word of a schedule. Add GAMMA to a word to get the next one."""
    return scramble(scramble(seed + GAMMA) ^ (number * GAMMA))


@kernel
def draw_schedule(seed, number, deck, hand, out):  # type: ignore[no-untyped-def]
    """Write schedule `number` of a seed to `out`, and return its length. `room` returns the buffers `hand` and `out`.

    The function writes PHRASE bytes for every card. If a card has fewer events, the next card overwrites the other
    bytes. This avoids a branch on the size of a card, which the processor would mispredict half of the time.
    """
    cards, verbs, optional, dead = deck
    word = first_word(seed, number)
    # The conjunction of two random words has each bit set with a probability of one in four.
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
    return length if dead.shape[0] == 0 else without_dead(out, length, dead)


def without_dead(out, length, dead):  # type: ignore[no-untyped-def]
    """Remove the events that `dead` marks from a schedule. Returns the new length."""
    kept = 0
    for i in range(length):
        event = out[i]
        out[kept] = event  # no branch: the next event overwrites a dead one
        kept += not dead[event]
    return kept
