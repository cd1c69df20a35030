"""Explain why an event is not enabled: the event's rule returns a refusal, and each refusal has a sentence."""

from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, replica_of
from epochfuzz.model.kafka.vocabulary.refusals import Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Partition

_REFUSALS = tuple(Refusal)


def why_not(p: Partition, event: int) -> str:
    """Return why `event` changes nothing in this state, or an empty text if the event is enabled."""
    return _REFUSALS[step(p.copy(), event)].sentence.format_map(RefusalFacts(p, replica_of(event)))


class RefusalFacts:
    """The values in the sentences of refusals: the properties of this class, and the constants of a state."""

    def __init__(self, p: Partition, r: int) -> None:
        self._p = p
        self._r = r

    def __getitem__(self, name: str) -> object:
        return (
            getattr(self, name) if isinstance(getattr(RefusalFacts, name, None), property) else getattr(self._p, name)
        )

    @property
    def r(self) -> str:
        """The replica of the event."""
        return REPLICA_NAMES[self._r]

    @property
    def epoch(self) -> int:
        """The leader epoch that the replica knows."""
        return int(self._p.known_epoch[self._r])

    @property
    def isr_size(self) -> int:
        """The number of replicas in the replica's ISR, if it leads."""
        return replica_sets.size(self._p.isr[self._r])

    @property
    def leader(self) -> str:
        """The leader that the replica follows."""
        return _name(self._p.known_leader[self._r])

    @property
    def leader_epoch(self) -> int:
        """The leader epoch that the replica's leader knows."""
        return int(self._p.known_epoch[self._p.known_leader[self._r]])

    @property
    def true_leader(self) -> str:
        """The leader of the controller's current epoch, if it is up and knows this epoch."""
        return _name(controller.true_leader(self._p))

    @property
    def seen_at(self) -> int:
        """The replica's log end offset that the true leader knows."""
        return int(self._p.remote_leos[controller.true_leader(self._p), self._r])

    @property
    def epoch_start(self) -> int:
        """The start offset of the true leader's epoch."""
        return int(self._p.epoch_start[controller.true_leader(self._p)])


def _name(r: int) -> str:
    return "nobody" if r == NONE else REPLICA_NAMES[r]
