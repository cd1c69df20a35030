"""The effect of an event on a process, and the phase of healing that has the event."""

from enum import Enum


class Heals(Enum):
    """The phase of healing that gives replicas an event. Healing runs after all faults have stopped."""

    RETURN = "first of all, once"
    REGISTER = "then, once; the session of the former process ends before"
    UNFENCE = "then, once; a registered process learns the current update before"
    LEARN = "then, and in each round, until nothing is left to learn"
    ROUND = "round after round, until nothing happens"


class Effect(Enum):
    """The effect of an event on a replica: its process starts, its process ends, or it learns an update."""

    STARTS = "its process starts"
    ENDS = "its process ends"
    INFORMS = "it learns an update"
