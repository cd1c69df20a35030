"""Why an event is not enabled: the sentence of the refusal with which its rule answers."""

from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, replica_of
from epochfuzz.model.kafka.vocabulary.refusals import Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Partition

_REFUSALS = tuple(Refusal)


def why_not(p: Partition, event: int) -> str:
    """Why `event` changes nothing in this state; empty where it is enabled."""
    return _REFUSALS[step(p.copy(), event)].sentence.format_map(Facts(p, replica_of(event)))


class Facts:
    """What the sentences of refusals speak of, by name: the properties of this class, and the constants of a state."""

    def __init__(self, p: Partition, r: int) -> None:
        self._p = p
        self._r = r

    def __getitem__(self, name: str) -> object:
        return getattr(self, name) if isinstance(getattr(Facts, name, None), property) else getattr(self._p, name)

    @property
    def r(self) -> str:
        """The replica of the event."""
        return REPLICA_NAMES[self._r]

    @property
    def epoch(self) -> int:
        """The leader epoch that it knows."""
        return int(self._p.known_epoch[self._r])

    @property
    def isr_size(self) -> int:
        """How many replicas are in the ISR that it has as a leader."""
        return replica_sets.size(self._p.isr[self._r])

    @property
    def leader(self) -> str:
        """Whom it follows."""
        return _name(self._p.known_leader[self._r])

    @property
    def leader_epoch(self) -> int:
        """The leader epoch of that one."""
        return int(self._p.known_epoch[self._p.known_leader[self._r]])

    @property
    def true_leader(self) -> str:
        """The leader that the controller has decided on."""
        return _name(controller.true_leader(self._p))

    @property
    def seen_at(self) -> int:
        """The log end offset at which the true leader has seen it."""
        return int(self._p.remote_leos[controller.true_leader(self._p), self._r])

    @property
    def epoch_start(self) -> int:
        """Where the true leader's epoch starts."""
        return int(self._p.epoch_start[controller.true_leader(self._p)])


def _name(r: int) -> str:
    return "nobody" if r == NONE else REPLICA_NAMES[r]
