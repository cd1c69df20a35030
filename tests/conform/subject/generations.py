"""What distinguishes the generations of Kafka's replication protocol that this implementation speaks."""

from typing import NamedTuple


class Generation(NamedTuple):
    """A generation, by what it does that the ones before did not."""

    asks_for_epoch_end: bool  # KIP-101: a follower asks its leader where to cut its log
    steps_back: bool  # KIP-279: and asks again until both know the epoch
    cuts_each_epoch: bool  # KIP-320: whenever it hears of a new epoch, not only of a new leader
    fences: bool  # KIP-320: requests carry the follower's epoch
    assigns_as_leader: bool  # KAFKA-7415: a leader's epoch is in its cache before its first record is in its log
    expands_at_epoch_start: bool  # KAFKA-7128


GENERATIONS = {
    "hw": Generation(False, False, False, False, False, False),
    "kip-101": Generation(True, False, False, False, False, False),
    "kip-279": Generation(True, True, False, False, False, False),
    "kip-320": Generation(True, True, True, True, True, True),
}
