"""Planted defects: each puts in the place of a method what somebody might have written instead.

They are here, and not among what they break, so that the implementation itself stays as it should be read.
"""

from collections.abc import Callable
from typing import Any

from tests.conform.subject.cluster import Cluster, Decision
from tests.conform.subject.disk import Disk
from tests.conform.subject.epochs import UNDEFINED, LeaderEpochs
from tests.conform.subject.log import Log
from tests.conform.subject.records import Batch, batches
from tests.conform.subject.replica import Message, Replica

DEFECTS: dict[str, Callable[[], None]] = {}


def defect(home: type, method: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function that can take the place of a method, under its own name."""

    def register(replacement: Callable[..., Any]) -> Callable[..., Any]:
        name = replacement.__name__.replace("_", "-")
        DEFECTS[name] = lambda: setattr(home, method, replacement)
        return replacement

    return register


# Files


@defect(Replica, "set_high_watermark")
def followers_do_not_checkpoint(self: Replica, offset: int) -> None:
    """Only a leader writes its high watermark to disk."""
    changed, self.hw = offset != self.hw, offset
    if changed and self.leads:
        self.disk.write_high_watermark(offset)


@defect(Log, "cut")
def log_file_is_not_cut(self: Log, end: int) -> None:
    """The log is truncated in memory, and comes back with the next restart."""
    del self.batches[end:]


@defect(LeaderEpochs, "cut")
def epoch_file_is_not_cut(self: LeaderEpochs, end: int) -> None:
    """Likewise the leader epoch cache."""
    self.entries = [entry for entry in self.entries if entry[1] < end]


@defect(Disk, "sync")
def fsync_is_forgotten(self: Disk) -> bool:
    """The log is taken for flushed."""
    return bool(self.shadow.stat().st_size != self.log.stat().st_size)


# Recovery


@defect(Log, "recover")
def recovery_drops_the_last_batch(self: Log) -> list[Batch]:
    """As if it were always torn."""
    return self._disk.read_log()[:-1]


@defect(Replica, "recover_high_watermark")
def recovery_trusts_the_checkpoint(self: Replica) -> int:
    """Although the log may have become shorter than that."""
    return self.disk.read_high_watermark()


# The leader epoch cache, and cutting by it


@defect(Replica, "append")
def followers_assign_their_own_epoch(self: Replica, data: bytes) -> None:
    """To a record that an earlier leader wrote."""
    for one in batches(data):
        self.epochs.assign(self.known_epoch, self.log.end)
        self.log.append_batch(one)


@defect(LeaderEpochs, "assign")
def conflicting_epochs_are_kept(self: LeaderEpochs, epoch: int, offset: int) -> None:
    """KAFKA-7415: an epoch without a record stands in the way of a later one."""
    if not self.entries or epoch > self.latest:
        self._replace([*self.entries, (epoch, offset)])


@defect(Replica, "recover_epochs")
def epochs_outlive_the_restart(self: Replica) -> None:
    """An epoch without a record is taken for one that had some."""


@defect(LeaderEpochs, "end_of")
def unheard_epochs_have_an_end(self: LeaderEpochs, epoch: int, log_end: int) -> tuple[int, int]:
    """As KIP-279 has it, and no release of Kafka: the leader answers with its own latest epoch."""
    at = sum(1 for entry in self.entries if entry[0] <= epoch) - 1
    if at < 0:
        return UNDEFINED, UNDEFINED
    return self.entries[at][0], self.entries[at + 1][1] if at + 1 < len(self.entries) else log_end


@defect(Replica, "follow")
def empty_logs_do_not_ask(self: Replica) -> None:
    """There is nothing to truncate, and so they fetch at once."""
    self.has_stepped_back = False
    self.truncating = self.log.end > 0


@defect(Replica, "epoch_end")
def latest_epoch_ends_at_the_high_watermark(self: Replica, epoch: int) -> tuple[int, int]:
    """Followers cut what they have and will only fetch again."""
    return self.epochs.end_of(epoch, self.hw)


# Fencing


@defect(Replica, "fences")
def older_epochs_are_not_fenced(self: Replica, epoch: int) -> bool:
    """A follower that has not heard of the leader's epoch is served."""
    return self.does.fences and epoch > self.known_epoch


@defect(Replica, "fences")
def newer_epochs_are_not_fenced(self: Replica, epoch: int) -> bool:
    """A leader of the past serves followers of the present."""
    return self.does.fences and epoch < self.known_epoch


@defect(Replica, "drop")
def dropped_answers_arrive(self: Replica) -> bool:
    """Said to be lost, and still in flight."""
    return self.in_flight is not None


# The ISR


@defect(Replica, "is_in_sync")
def expands_at_the_high_watermark(self: Replica, follower: str) -> bool:
    """KAFKA-7128: the high watermark of a new leader may be older than what its log has."""
    return self.remote.get(follower, -1) >= self.hw


@defect(Replica, "shrink")
def shrinking_does_not_advance(self: Replica, follower: str) -> bool:
    """The high watermark waits for the next fetch."""
    if follower not in self.isr or self.remote.get(follower, 0) >= self.log.end:
        return False
    self.isr.remove(follower)
    return True


@defect(Replica, "remembered")
def remote_offsets_outlive_the_epoch(self: Replica) -> dict[str, int]:
    """What followers had in an earlier epoch is taken for what they have."""
    return self.remote


@defect(Replica, "advance_high_watermark")
def everyone_is_waited_for(self: Replica) -> None:
    """The high watermark waits for replicas outside the ISR, too."""
    everyone = [name for name in "ABCDE"[: self.config["replicas"]] if name != self.name]
    everywhere = min([self.log.end, *(self.remote.get(name, 0) for name in everyone)])
    self.set_high_watermark(max(self.hw, everywhere))


@defect(Replica, "answer_fetch")
def answers_run_ahead(self: Replica, follower: str, offset: int) -> Message:
    """An answer with records carries the high watermark that the request itself has brought about."""
    if offset > self.log.end:
        return {"out_of_range": self.log.end}
    self.remote[follower] = offset
    self.heard_from.add(follower)
    self.advance_high_watermark()
    return {"batches": self.log.read(offset, self.config["records_per_fetch"]).hex(), "hw": self.hw}


@defect(Cluster, "elect")
def fail_over_keeps_the_dead(self: Cluster, name: str) -> bool:
    """The ISR has members that are down, and the high watermark waits for them."""
    current = self.decisions[-1]
    if not self.is_up(name) or name == current.leader or name not in current.isr:
        return False
    self.decisions.append(Decision(name, list(current.isr)))
    return True
