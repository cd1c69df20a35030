"""Situations: which event met a replica in which role, knowing what, and what came of it.

They are coverage in the protocol's own terms. Lines of code are all run within seconds; what a campaign may have
missed is a certain event at a replica that was, say, a zombie leader two epochs behind, with a log at odds with its
successor's. A situation is a number: one value for each aspect below, packed.
"""

from dataclasses import dataclass
from typing import Any

from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.events import VERBS
from epochfuzz.model.kafka.vocabulary.state import NONE, Phase, State


@dataclass(frozen=True)
class Aspect:
    """One aspect of a situation: what it asks, its values, and the lowest of its bits."""

    name: str
    values: tuple[str, ...]
    shift: int

    @property
    def bits(self) -> int:
        """How many bits its value takes."""
        return (len(self.values) - 1).bit_length()


# Of the replica that the event names. Its log is compared, and its membership looked up, after the event; the first two
# say what the event did to its log and its HW, and all others are as they were before it.
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

SITUATIONS = 1 << 21  # every situation is below
KINDS = 1 << 8  # a kind of situation: its event and the replica's role, see `kind_of`


def describe(situation: int) -> dict[str, str]:
    """Return a situation in words: aspect to value, the event first."""
    return {
        aspect.name: aspect.values[situation >> aspect.shift & (1 << aspect.bits) - 1] for aspect in reversed(ASPECTS)
    }


def kind_of(situation: int) -> int:
    """Return the kind of a situation: event and role alone, coarse enough to group failures by."""
    return situation >> 13


def before(p: State, r: int) -> Any:
    """Return what has to be known of r before the event, most of which are not enabled: raw, and cheap."""
    behind = min(max(0, p.controller_epoch - p.known_epoch[r]), 2)  # one that obeys a rival may know a later epoch
    return p.up[r], p.known_leader[r], behind, p.phase[r], p.flight[r], p.leo[r], p.high_watermark[r]


def situation(p: State, event: int, before: Any) -> int:
    """Return the situation of an event that has just been applied."""
    up, known_leader, behind, phase, flight, leo, high_watermark = before
    r = event & 7
    return (
        (event >> 3) << 16
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
    """0 where a number stays, 1 where it goes up, 2 where it goes down."""
    return (later > earlier) | (later < earlier) << 1


def role(r, up, known_leader, behind, phase):  # type: ignore[no-untyped-def]
    """Return the role of r: what it takes itself for, and whether it is wrong."""
    if known_leader == r:
        return ZOMBIE if behind else LEADER
    if known_leader == NONE:
        return LEADERLESS if up else DOWN
    return FOLLOWER if phase == Phase.FETCHING else TRUNCATING


def beside_leader(p, r):  # type: ignore[no-untyped-def]
    """r's log beside that of the leader by the current decision, down or not; equal where there is none."""
    leader = controller.leader(p)
    if leader == NONE:
        return EQUAL
    both = min(p.leo[r], p.leo[leader])
    if log.prefix(p.log_record[r] ^ p.log_record[leader], both) != 0:
        return AT_ODDS
    if p.leo[r] == p.leo[leader]:
        return EQUAL
    return SHORTER if p.leo[r] < p.leo[leader] else LONGER
