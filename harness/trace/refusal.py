"""Explain in a sentence why an event is not enabled in a state, for example because its replica is down.

The rule of an event that is not enabled returns a Refusal: the reason, with a sentence that has placeholders.
RefusalFacts fills the placeholders.
"""

from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES
from epochfuzz.model.kafka.vocabulary.refusals import Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Partition

_REFUSALS = tuple(Refusal)


def why_not(p: Partition, event: int) -> str:
    """Return a sentence that says why `event` cannot happen in this state, or an empty text if it can."""
    return _REFUSALS[step(p.copy(), event)].sentence.format_map(RefusalFacts(p, replica_of(event)))


class RefusalFacts:
    """The values for the placeholders in a refusal's sentence, such as `{leader}`, by name.

    A name is a property of this class, or else an attribute of the state.
    """

    def __init__(self, p: Partition, r: int) -> None:
        self._p = p
        self._r = r

    def __getitem__(self, name: str) -> object:
        return (
            getattr(self, name) if isinstance(getattr(RefusalFacts, name, None), property) else getattr(self._p, name)
        )

    @property
    def r(self) -> str:
        """The letter of the event's replica."""
        return REPLICA_NAMES[self._r]

    @property
    def epoch(self) -> int:
        """The leader epoch that the event's replica knows."""
        return int(self._p.known_epoch[self._r])

    @property
    def isr_size(self) -> int:
        """The size of the ISR that the event's replica knows, if this replica leads."""
        return replica_sets.size(self._p.isr[self._r])

    @property
    def leader(self) -> str:
        """The letter of the leader that the event's replica follows, or `nobody`."""
        return _name(self._p.known_leader[self._r])

    @property
    def leader_epoch(self) -> int:
        """The leader epoch that the leader of the event's replica knows."""
        return int(self._p.known_epoch[self._p.known_leader[self._r]])

    @property
    def true_leader(self) -> str:
        """The letter of the current leader, or `nobody` if this leader is down or does not know its epoch yet."""
        return _name(controller.true_leader(self._p))

    @property
    def seen_at(self) -> int:
        """The log end offset that the controller's current leader knows of the event's replica.

        This is the offset of the replica's last fetch.
        """
        return int(self._p.remote_leos[controller.true_leader(self._p), self._r])

    @property
    def epoch_start(self) -> int:
        """The start offset of the epoch that the controller's current leader leads."""
        return int(self._p.epoch_start[controller.true_leader(self._p)])


def _name(r: int) -> str:
    return "nobody" if r == NONE else REPLICA_NAMES[r]
