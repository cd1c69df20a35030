"""What can be seen of a partition from outside, in plain Python values.

This is the language of checked states in case files, of fingerprints, and of the conformance protocol: it speaks of
logs, offsets and epochs, and stays the same when the layout of a state changes.
"""

from typing import Any

from epochfuzz.model import controller, log
from epochfuzz.model.events import REPLICA_NAMES
from epochfuzz.model.state import NONE, Partition


def observe(p: Partition) -> dict[str, Any]:
    """`{"replicas": {"A": {...}, ...}, "controller": {...}}`, see `observe_replica` and `observe_controller`."""
    replicas = {REPLICA_NAMES[r]: observe_replica(p, r) for r in range(p.replicas)}
    return {"replicas": replicas, "controller": observe_controller(p)}


def observe_replica(p: Partition, r: int) -> dict[str, Any]:
    """up, leo, hw, log as [record, epoch] pairs, epoch cache as [epoch, start offset] pairs, and whom r follows."""
    return {
        "up": bool(p.up[r]),
        "leo": p.leo[r],
        "hw": p.high_watermark[r],
        "log": [[f"m{record}", epoch] for record, epoch in log_entries(p, r)],
        "epochs": [[p.cache_epoch[r, i], p.cache_start[r, i]] for i in range(p.cache_size[r])],
        "leader": replica_name(p.known_leader[r]),
        "leader_epoch": p.known_epoch[r] if p.up[r] and p.known_epoch[r] != NONE else None,
    }


def observe_controller(p: Partition) -> dict[str, Any]:
    """The controller's current decision: leader, epoch, ISR."""
    return {
        "leader": replica_name(controller.leader(p)),
        "epoch": p.controller_epoch,
        "isr": members(controller.isr(p)),
    }


def log_entries(p: Partition, r: int) -> list[tuple[int, int]]:
    """(record id, leader epoch) by offset."""
    return [(log.at(p.log_record[r], offset), log.at(p.log_epoch[r], offset)) for offset in range(p.leo[r])]


def replica_name(r: int) -> str | None:
    """A letter, None for nobody."""
    return None if r == NONE else REPLICA_NAMES[r]


def members(replica_set: int) -> list[str]:
    """The letters of a replica set, in order."""
    return [name for r, name in enumerate(REPLICA_NAMES) if replica_set >> r & 1]
