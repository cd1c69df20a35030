"""Unreached: situations that a walk has not met, though exhaustive search within small bounds meets them."""

from dataclasses import dataclass, replace

import numpy as np

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.model.kafka.contract.situations import SITUATIONS
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_MEMORY = 256 << 20  # bytes; with every fault switched on, it ends the search before the bounds do


@dataclass(frozen=True)
class Reachable:
    """The situations that a search within `settings` met; every one, where it was complete."""

    settings: Configuration
    complete: bool
    situations: frozenset[int]


def reachable(protocol: Protocol, settings: Configuration) -> Reachable:
    """Return what two replicas can meet with two records and two elections, the faults being those of the settings.

    A situation speaks of one replica and its leader, so whatever two replicas meet, more of them meet as well.
    """
    small = replace(settings, replicas=2, min_insync_replicas=min(2, settings.min_insync_replicas), records=2, epochs=2)
    met = np.zeros(SITUATIONS, np.uint8)
    search = explore(protocol, small, wanted=0, memory=_MEMORY, met=met)
    return Reachable(small, search.complete, frozenset(np.flatnonzero(met).tolist()))
