"""The protocols that this implementation speaks: designs with their repairs, and Kafka's releases."""

from enum import Enum
from typing import Any, NamedTuple


class CutsWhen(Enum):
    """Which news of a leader other than itself makes a follower look for what it has to truncate."""

    ANOTHER_LEADER = "another leader than it knew"
    EPOCH_MISSED = "that, or decisions went by that it has not heard of (KAFKA-7164)"
    EACH_EPOCH = "any (KIP-320)"


class Protocol(NamedTuple):
    """A protocol, by what it does that the oldest design, with its repairs, does not."""

    asks_for_epoch_end: bool = False  # KIP-101: a follower asks its leader where to truncate its log
    steps_back: bool = False  # KIP-279: and asks again until both know the epoch
    cuts_when: CutsWhen = CutsWhen.ANOTHER_LEADER
    fences: bool = False  # KIP-320: requests carry the follower's epoch
    assigns_as_leader: bool = (
        False  # KAFKA-7415: a leader's epoch is in its cache before its first record is in its log
    )
    expands_at_epoch_start: bool = False  # KAFKA-7128
    fails_who_returns: bool = False  # KIP-380: who comes back has been away, though nobody may have noticed
    # What releases do instead of a repair.
    remembers_followers: bool = False  # a leader that is leader again, without a break, knows its followers still
    cuts_epochs_with_log: bool = False  # KAFKA-10706: where nothing is truncated the log, epochs stay as well
    keeps_high_watermark: bool = False  # a truncation may leave the high watermark beyond the end of the log
    forgets_out_of_range: bool = False  # the leader knows nothing of a follower that asked for what is beyond its log
    fetches_on: bool = (
        False  # KAFKA-7164, KAFKA-7786: no decision ends what is in flight, be the partition given up and taken again
    )
    halts_out_of_range: bool = False  # KAFKA-7414: and that follower gives up, where unclean elections are off


_HW = Protocol()
_KIP_101 = _HW._replace(asks_for_epoch_end=True)
_KIP_279 = _KIP_101._replace(steps_back=True)
_KIP_320 = _KIP_279._replace(
    cuts_when=CutsWhen.EACH_EPOCH,
    fences=True,
    assigns_as_leader=True,
    expands_at_epoch_start=True,
    fails_who_returns=True,
)

_EVER: dict[str, Any] = {"remembers_followers": True}
_TO_2_6_0 = _EVER | {"cuts_epochs_with_log": True}
_TO_2_3 = _TO_2_6_0 | {"keeps_high_watermark": True, "forgets_out_of_range": True}
_TO_2_0_1 = _TO_2_3 | {"fetches_on": True}
_TO_2_0_0 = _TO_2_0_1 | {"halts_out_of_range": True}

PROTOCOLS = {
    "hw": _HW,
    "kip-101": _KIP_101,
    "kip-279": _KIP_279,
    "kip-320": _KIP_320,
    "kafka-0.10.2": _HW._replace(**_TO_2_0_0),
    "kafka-1.1": _KIP_101._replace(**_TO_2_0_0),
    "kafka-2.0.0": _KIP_279._replace(**_TO_2_0_0),
    "kafka-2.0.1": _KIP_279._replace(
        **_TO_2_0_1, cuts_when=CutsWhen.EPOCH_MISSED, assigns_as_leader=True, expands_at_epoch_start=True
    ),
    "kafka-2.1.0": _KIP_320._replace(**_TO_2_0_1, fails_who_returns=False),
    "kafka-2.1.1": _KIP_320._replace(**_TO_2_3, fails_who_returns=False),
    "kafka-2.3": _KIP_320._replace(**_TO_2_3),
    "kafka-2.6.0": _KIP_320._replace(**_TO_2_6_0),
    "kafka-2.6.1": _KIP_320._replace(**_EVER),
}
