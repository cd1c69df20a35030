"""Search exhaustively, within small bounds, for the coverage points (situations) that random runs should reach."""

from dataclasses import dataclass, replace

import numpy as np

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.model.kafka.contract.situations import SITUATIONS
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_MEMORY = 256 << 20  # bytes; with all faults enabled, memory ends the search before the bounds do


@dataclass(frozen=True)
class Reachable:
    """The situations (coverage points) that a search within `settings` reached.

    If `complete` is true, no other situation can be reached within these settings.
    """

    settings: Configuration
    complete: bool
    situations: frozenset[int]


def reachable(protocol: Protocol, settings: Configuration) -> Reachable:
    """Search exhaustively with two replicas, two records and two epoch changes, and return the reached situations.

    The search includes the faults that `settings` enables. A situation describes one replica and its leader, so a
    partition with more replicas can reach these situations too.
    """
    small = replace(settings, replicas=2, min_insync_replicas=min(2, settings.min_insync_replicas), records=2, epochs=2)
    met = np.zeros(SITUATIONS, np.uint8)
    search = explore(protocol, small, wanted=0, memory=_MEMORY, met=met)
    return Reachable(small, search.complete, frozenset(np.flatnonzero(met).tolist()))
