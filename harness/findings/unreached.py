"""Unreached: situations that random runs have not met, but that exhaustive search within small bounds meets."""

from dataclasses import dataclass, replace

import numpy as np

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.model.kafka.contract.situations import SITUATIONS
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_MEMORY = 256 << 20  # bytes; with all faults enabled, memory ends the search before the bounds do


@dataclass(frozen=True)
class Reachable:
    """The situations that a search within `settings` met. A complete search meets every reachable situation."""

    settings: Configuration
    complete: bool
    situations: frozenset[int]


def reachable(protocol: Protocol, settings: Configuration) -> Reachable:
    """Return the situations that two replicas meet with two records, two epoch changes and the faults in `settings`.

    A situation describes one replica and its leader, so larger clusters can meet every situation of two replicas.
    """
    small = replace(settings, replicas=2, min_insync_replicas=min(2, settings.min_insync_replicas), records=2, epochs=2)
    met = np.zeros(SITUATIONS, np.uint8)
    search = explore(protocol, small, wanted=0, memory=_MEMORY, met=met)
    return Reachable(small, search.complete, frozenset(np.flatnonzero(met).tolist()))
