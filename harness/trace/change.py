"""An event with the states before and after it, and texts about these states."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from epochfuzz.model.kafka.contract.observation import members
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.vocabulary import event_codes
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES
from epochfuzz.model.kafka.vocabulary.in_force import answers_survive_decisions
from epochfuzz.model.kafka.vocabulary.state import NONE, State


@dataclass(frozen=True)
class Change:
    """An event that changed the state, with the states before and after it.

    `readable_on` maps the id of each record to the letter of the first replica that let consumers read the record.
    """

    before: State
    event: int
    after: State
    readable_on: Mapping[int, str]
    newly_broken: tuple[str, ...]

    @property
    def r(self) -> int:
        """The number of the event's replica."""
        return event_codes.replica_of(self.event)

    @property
    def name(self) -> str:
        """The letter of the event's replica."""
        return REPLICA_NAMES[self.r]


def answered_by(p: State, r: int) -> int:
    """Return the number of the replica that sent the response in flight to r.

    The sender is the leader that r follows, except under protocols that keep a response in flight when r learns of
    another leader.
    """
    return int(p.flight_leader[r] if answers_survive_decisions(p) else p.known_leader[r])


def isr_of(p: State) -> str:
    """Return the controller's ISR, as in `A,B`."""
    return listed(controller.isr(p))


def listed(replica_set: int) -> str:
    """Return the members of a replica set, as in `A,B`. An empty set is `empty`."""
    return ",".join(members(replica_set)) or "empty"


def joined(words: Iterable[str]) -> str:
    """Join words for a sentence: `A, B and C`."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def is_or_are(member_set: int) -> str:
    """Return `is` for a set with one member, and `are` for several."""
    return "is" if member_set & (member_set - 1) == 0 else "are"


def decision(p: State) -> str:
    """Return the controller's epoch, leader and ISR as text, such as `epoch 2 keeps leader A, ISR A,B`."""
    leader = controller.leader(p)
    led_by = "has no leader" if leader == NONE else f"keeps leader {REPLICA_NAMES[leader]}"
    return f"epoch {p.controller_epoch} {led_by}, ISR {isr_of(p)}"
