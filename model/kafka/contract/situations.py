"""Situations measure coverage: combinations of an event, the replica's state before the event, and the result.

A run executes all lines of code within seconds, so line coverage shows little. But a campaign may have missed an event
in a particular state, such as an event at a stale leader whose log has diverged from the log of the new leader. A
situation is a number that packs one value for each Aspect, such as the event or the role of the replica.
"""

from dataclasses import dataclass
from typing import Any

from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of, verb_number
from epochfuzz.model.kafka.vocabulary.events import VERBS
from epochfuzz.model.kafka.vocabulary.state import NONE, Phase, State


@dataclass(frozen=True)
class Aspect:
    """One part of a situation, such as the event: a name, the possible values, and the lowest bit (`shift`)."""

    name: str
    values: tuple[str, ...]
    shift: int

    @property
    def bits(self) -> int:
        """The number of bits that the aspect takes in a situation."""
        return (len(self.values) - 1).bit_length()


# All aspects describe the replica that the event names. The first two aspects compare the replica's LEO and HW before
# and after the event. `log` and `membership` are read after the event, and all other aspects before the event.
ASPECTS: tuple[Aspect, ...] = (
    Aspect("log end offset", ("LEO stays", "LEO advances", "LEO goes back"), 0),
    Aspect("high watermark", ("HW stays", "HW advances", "HW goes back"), 2),
    Aspect(
        "in flight",
        ("nothing", "records", "offset out of range", "end of an epoch", "a divergence", "a fetch that waits"),
        4,
    ),
    Aspect("high watermark before", ("HW at its LEO", "HW below its LEO"), 7),
    Aspect("membership", ("out of the ISR", "in the ISR"), 8),
    Aspect("log", ("as the leader's", "shorter than the leader's", "longer than the leader's", "at odds"), 9),
    Aspect("decision", ("the current one", "the one before", "an older one, or none"), 11),
    Aspect("role", ("leader", "zombie", "follower", "truncating follower", "leaderless replica", "dead replica"), 13),
    Aspect("event", VERBS, 16),
)
LEADER, ZOMBIE, FOLLOWER, TRUNCATING, LEADERLESS, DOWN = range(6)
EQUAL, SHORTER, LONGER, AT_ODDS = range(4)

SITUATIONS = len(VERBS) << 16  # every situation is less than this
KINDS = len(VERBS) << 3  # every kind of situation is less than this, see `kind_of`


def describe(situation: int) -> dict[str, str]:
    """Return a situation in words: a dictionary from the names of the aspects to their values. The event is first."""
    return {
        aspect.name: aspect.values[situation >> aspect.shift & (1 << aspect.bits) - 1] for aspect in reversed(ASPECTS)
    }


def kind_of(situation: int) -> int:
    """Return the kind of a situation: a number for the event and the role of the replica (such as leader or follower).

    epochfuzz groups failures by kind.
    """
    return situation >> 13


def before(p: State, r: int) -> Any:
    """Return the facts about r before an event, for the function `situation`.

    The function must be cheap, because it also runs before the many events that are not enabled.
    """
    # The difference of the epochs is negative if r has learned a later epoch from a deposed controller.
    behind = min(max(0, p.controller_epoch - p.known_epoch[r]), 2)
    return p.up[r], p.known_leader[r], behind, p.phase[r], p.flight[r], p.leo[r], p.high_watermark[r]


def situation(p: State, event: int, before: Any) -> int:
    """Return the situation of an event that has just been applied. `before` is the result of the function `before`."""
    up, known_leader, behind, phase, flight, leo, high_watermark = before
    r = replica_of(event)
    return (
        verb_number(event) << 16
        | role(r, up, known_leader, behind, phase) << 13
        | behind << 11
        | beside_leader(p, r) << 9
        | (controller.isr(p) >> r & 1) << 8
        | (high_watermark < leo) << 7
        | flight << 4
        | change(high_watermark, p.high_watermark[r]) << 2
        | change(leo, p.leo[r])
    )


def change(earlier, later):  # type: ignore[no-untyped-def]
    """Return 0 if a number stays equal, 1 if it rises, 2 if it falls."""
    return (later > earlier) | (later < earlier) << 1


def role(r, up, known_leader, behind, phase):  # type: ignore[no-untyped-def]
    """Return the role that r had before the event, such as LEADER or FOLLOWER.

    A leader that has not learned the controller's current epoch is a stale leader (ZOMBIE).
    """
    if known_leader == r:
        return ZOMBIE if behind else LEADER
    if known_leader == NONE:
        return LEADERLESS if up else DOWN
    return FOLLOWER if phase == Phase.FETCHING else TRUNCATING


def beside_leader(p, r):  # type: ignore[no-untyped-def]
    """Return a code for r's log compared with the current leader's log: EQUAL, SHORTER, LONGER or AT_ODDS.

    The current leader is the leader in the controller's latest update, even if it is down. Without a leader the result
    is EQUAL.
    """
    leader = controller.leader(p)
    if leader == NONE:
        return EQUAL
    both = min(p.leo[r], p.leo[leader])
    if log.differences(p, r, leader, both) != 0:
        return AT_ODDS
    if p.leo[r] == p.leo[leader]:
        return EQUAL
    return SHORTER if p.leo[r] < p.leo[leader] else LONGER
