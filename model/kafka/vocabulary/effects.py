"""The effect of an event on a replica's process, and the phase of healing (after all faults) that applies the event."""

from enum import Enum


class Heals(Enum):
    """The phase of healing that applies an event to the replicas.

    After all faults have stopped, healing runs the partition until nothing changes.
    """

    RETURN = "first of all, once"
    REGISTER = "then, once; the session of the former process ends before"
    UNFENCE = "then, once; a registered process learns the current update before"
    LEARN = "then, and in each round, until nothing is left to learn"
    ROUND = "round after round, until nothing happens"


class Effect(Enum):
    """The effect of an event on a replica: its process starts or ends, or it learns a leader-and-ISR update."""

    STARTS = "its process starts"
    ENDS = "its process ends"
    INFORMS = "it learns an update"
