"""Goals that a run must meet: a run in which nothing was ever truncated has nothing to say about truncation.

The model notes what a schedule has shown (model/goals.py). Here is which of it can be asked for, by protocol and
configuration.
"""

from collections.abc import Callable

from epochfuzz.model import goals, protocols
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.protocols import Protocol

Applies = Callable[[Protocol, Configuration], bool]


def _always(protocol: Protocol, settings: Configuration) -> bool:
    return True


# A goal that is not here is counted and shown, but never asked for.
_APPLIES: dict[int, Applies] = {
    goals.HIGH_WATERMARK_ADVANCED: _always,
    goals.LOG_TRUNCATED: _always,
    goals.ZOMBIE_ACCEPTED_WRITE: lambda protocol, settings: settings.min_insync_replicas == 1 or settings.acks != "all",
    goals.EPOCH_MISSED: _always,
    goals.LED_OUTDATED_EPOCH: _always,
    goals.ISR_SHRANK: _always,
    goals.ISR_GREW: _always,
    goals.EPOCH_ANSWER_UNDEFINED: lambda protocol, settings: (
        protocol.truncation == protocols.TRUNCATE_BY_LEADER_EPOCH and protocol.epoch_cache == protocols.CACHE_ORIGINAL
    ),
    goals.EPOCH_ASKED_AGAIN: lambda protocol, settings: (
        protocol.truncation == protocols.TRUNCATE_BY_LEADER_EPOCH_STEPWISE
        and protocol.epoch_cache == protocols.CACHE_KAFKA_7415
    ),
    goals.FETCH_FENCED: lambda protocol, settings: protocol.fencing == protocols.FENCING_EPOCH,
    goals.NOT_ENOUGH_REPLICAS: lambda protocol, settings: settings.min_insync_replicas > 1 and settings.acks == "all",
    goals.ELECTED_UNCLEANLY: lambda protocol, settings: settings.unclean_leader_election,
    goals.HIGH_WATERMARK_RESTARTED_LOWER: lambda protocol, settings: settings.asynchronous_checkpoint,
    goals.UNFLUSHED_LOST: lambda protocol, settings: settings.power_loss,
}


def asked_for(protocol: Protocol, settings: Configuration) -> list[str]:
    """The names of the goals that a run of a protocol must meet, in the order of epochfuzz.model.goals.NAMES."""
    return [
        name
        for bit, name in enumerate(goals.NAMES)
        if (applies := _APPLIES.get(1 << bit)) is not None and applies(protocol, settings)
    ]
