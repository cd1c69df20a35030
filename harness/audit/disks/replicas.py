"""Replicas: combine the files of one partition in one data directory.

The segments and leader-epoch-checkpoint must agree on the leader epochs. If they contradict each other, a file is
damaged or was copied while the broker wrote, and audit does not use the replica. If only the last epochs of the
segments are missing in the checkpoint, audit uses the log up to these epochs. If there is no checkpoint, audit uses the
epochs of the segments alone.
"""

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from epochfuzz.harness.audit.disks import checkpoints
from epochfuzz.harness.audit.disks.checkpoints import EpochEntry, LogDirectory
from epochfuzz.harness.audit.disks.files import Unreadable
from epochfuzz.harness.audit.disks.found import LocatedReplica
from epochfuzz.harness.audit.disks.producers import SequenceGap, sequence_gaps
from epochfuzz.harness.audit.disks.segments import BatchHeader, EpochRun, Segment
from epochfuzz.harness.audit.lines.events import Event, MessageKind


@dataclass(frozen=True)
class Epoch:
    """A leader epoch in a replica's log: where it starts, and the files that show it."""

    number: int
    start: int
    line: int | None  # of leader-epoch-checkpoint
    run: EpochRun | None  # None: the leader has written nothing yet


@dataclass(kw_only=True)
class DiskReplica:
    """The usable part of a replica: the offsets from `start` up to, but not including, `end`, with their epochs."""

    topic: str
    partition: int
    path: str
    directory: LogDirectory
    topic_id: str | None = None
    start: int = 0
    end: int = 0
    epochs: list[Epoch] = field(default_factory=list)
    is_compacted: bool = False
    is_usable: bool = True
    problems: list[str] = field(default_factory=list)
    sequence_gaps: list[SequenceGap] = field(default_factory=list)
    bytes: int = 0

    @property
    def broker(self) -> int | None:
        """The id of the broker that the disk belongs to, or None if unknown."""
        return self.directory.broker

    @property
    def who(self) -> str:
        """The broker in words, such as `broker 1`."""
        return f"broker {self.broker}" if self.broker is not None else f"the broker of {self.directory.path}"

    @property
    def latest(self) -> int:
        """The latest leader epoch that this replica knows, -1 if it knows none."""
        return self.epochs[-1].number if self.epochs else -1

    @property
    def high_watermark(self) -> int | None:
        """The high watermark in the checkpoint, but at most the log end offset. None if the checkpoint lacks it."""
        entry = self.directory.high_watermarks.get((self.topic, self.partition))
        return None if entry is None else min(entry[0], self.end)

    @cached_property
    def _starts(self) -> list[int]:
        return [epoch.start for epoch in self.epochs]

    def epoch_at(self, offset: int) -> Epoch | None:
        """Return the leader epoch of the record at an offset."""
        index = bisect_right(self._starts, offset) - 1
        return self.epochs[index] if index >= 0 else None

    def first_after(self, number: int) -> Epoch | None:
        """Return the first leader epoch later than `number`, or None if there is none."""
        return next((epoch for epoch in self.epochs if epoch.number > number), None)

    def shows_high_watermark(self) -> Event:
        """Return the evidence for the high watermark: the line of the checkpoint file."""
        value, line = self.directory.high_watermarks[self.topic, self.partition]
        file = os.path.join(self.directory.path, checkpoints.HIGH_WATERMARKS)
        text = f"{self.topic} {self.partition} {value}: the high watermark is {value}"
        return self.event(file, line, self.directory.checkpointed, text, offset=self.end, high_watermark=value)

    def shows_epoch(self, epoch: Epoch) -> list[Event]:
        """Return the evidence for the start of an epoch: the checkpoint's line, and the first batch."""
        shown = []
        when = epoch.run.first.time if epoch.run is not None else self.directory.checkpointed
        if epoch.line is not None:
            file = os.path.join(self.path, checkpoints.EPOCHS)
            text = f"{epoch.number} {epoch.start}: leader epoch {epoch.number} starts at offset {epoch.start}"
            shown.append(self.event(file, epoch.line, when, text, leader_epoch=epoch.number, offset=epoch.start))
        if epoch.run is not None:
            first = epoch.run.first
            text = _described(epoch.run, first)
            shown.append(
                self.event(epoch.run.file, first.position, when, text, leader_epoch=first.epoch, offset=first.base)
            )
        return shown

    def shows_end(self) -> list[Event]:
        """Return the last batch as evidence, or an empty list for an empty log."""
        run = next((epoch.run for epoch in reversed(self.epochs) if epoch.run is not None), None)
        if run is None:
            return []
        last = run.last
        text = _described(run, last)
        return [
            self.event(
                run.last_file or run.file, last.position, last.time, text, leader_epoch=last.epoch, offset=last.last + 1
            )
        ]

    def event(
        self,
        file: str,
        line: int,
        time: int,
        text: str,
        leader_epoch: int | None = None,
        offset: int | None = None,
        high_watermark: int | None = None,
    ) -> Event:
        """Return evidence from a file; `line` is a byte position in files that have no lines."""
        return Event(
            kind=MessageKind.ON_DISK,
            file=file,
            line=line,
            time=time,
            text=text,
            topic=self.topic,
            partition=self.partition,
            broker=self.broker,
            topic_id=self.topic_id,
            leader_epoch=leader_epoch,
            offset=offset,
            high_watermark=high_watermark,
        )


def _described(run: EpochRun, batch: BatchHeader) -> str:
    place = f"{run.unit} {batch.position}"
    return f"{place}: a batch of leader epoch {batch.epoch}, offsets {batch.base} to {batch.last}"


def replica_of(directory: LogDirectory, where: LocatedReplica, segments: Sequence[Segment]) -> DiskReplica:
    """Combine the files of a replica. `problems` of the result lists their errors and contradictions."""
    key = where.topic, where.partition
    replica = DiskReplica(topic=where.topic, partition=where.partition, path=where.path, directory=directory)
    replica.bytes = sum(segment.size for segment in segments)
    replica.is_compacted = key in directory.cleaned
    try:
        replica.topic_id = checkpoints.topic_id_of(where.path)
    except Unreadable as error:
        replica.is_usable = False
        replica.problems.append(f"{os.path.join(where.path, checkpoints.TOPIC_ID)}: {error}")
    entries: list[EpochEntry] | None = None
    try:
        entries = checkpoints.epochs_of(where.path)
    except Unreadable as error:
        replica.is_usable = False
        replica.problems.append(f"{os.path.join(where.path, checkpoints.EPOCHS)}: {error}")
    runs = _continuous(replica, segments)
    replica.start = segments[0].base if segments else 0
    replica.start = max(replica.start, directory.log_starts.get(key, (0, 0))[0])
    if entries is None:
        _by_segments(replica, runs)
    else:
        _by_both(replica, entries, runs)
    replica.problems += _missing_end(replica)
    if replica.is_usable and not replica.is_compacted:
        used = ((segment.file, segment.producers) for segment in segments if segment.base < replica.end)
        replica.sequence_gaps = list(sequence_gaps(used, is_whole=replica.start == 0))
    return replica


def _missing_end(replica: DiskReplica) -> Iterator[str]:
    """Yield a problem if the log ends below an offset that one of the broker's checkpoints shows.

    The log reached that offset. A broker flushes the records below the recovery point before it writes the recovery
    point (LogManager.checkpointRecoveryOffsetsInDir). When it truncates the log, it lowers the recovery point at once
    (LogManager.truncateTo).
    """
    key, directory = (replica.topic, replica.partition), replica.directory
    for name, offsets in (
        ("high watermark", directory.high_watermarks),
        ("recovery point", directory.recovery_points),
    ):
        shown = offsets.get(key, (0, 0))[0]
        if shown > replica.end:
            yield (
                f"{replica.path}: the log ends at offset {replica.end:,}, below the {name} of its checkpoint,"
                f" {shown:,}: part of the log is missing, or was truncated before the broker died"
            )
            return


def _continuous(replica: DiskReplica, segments: Sequence[Segment]) -> list[EpochRun]:
    """Merge the runs of consecutive segments into one run per epoch, and stop at the first unusable segment.

    Sets the end of the replica, and adds the problems of the segments to the replica.
    """
    runs: list[EpochRun] = []
    end = segments[0].base if segments else 0
    for segment in segments:
        first = segment.runs[0].first if segment.runs else None
        begins = segment.base if first is None else first.base
        if begins < end or (first is not None and runs and first.epoch < runs[-1].epoch):
            replica.problems.append(f"{segment.file}: does not continue the segment before it")
            replica.is_usable = False
            break
        if begins > end and not replica.is_compacted:
            replica.problems.append(f"{segment.file}: offsets {end:,} to {begins - 1:,} are missing before it")
            break
        for run in segment.runs:
            if runs and runs[-1].epoch == run.epoch:
                before = runs[-1]
                runs[-1] = EpochRun(
                    file=before.file,
                    epoch=run.epoch,
                    first=before.first,
                    last=run.last,
                    batches=before.batches + run.batches,
                    last_file=run.file,
                )
            else:
                runs.append(run)
        end = segment.end
        if segment.problem is not None:
            replica.problems.append(f"{segment.file}: {segment.problem}; nothing after this was read")
            break
        if segment.holes and not replica.is_compacted:
            replica.problems.append(
                f"{segment.file}: {segment.holes:,} offsets are missing between its batches, and no"
                f" {checkpoints.CLEANED} says that the log was compacted"
            )
            replica.is_usable = False
            break
    replica.end = end
    return runs


def _by_segments(replica: DiskReplica, runs: Sequence[EpochRun]) -> None:
    """Set the replica's leader epochs from its segments. If the replica has problems, leave out the last epoch."""
    whole = runs[:-1] if replica.problems else runs
    replica.epochs = [Epoch(run.epoch, run.first.base, None, run) for run in whole]
    if len(whole) < len(runs):
        replica.end = runs[-1].first.base


def _by_both(replica: DiskReplica, entries: Sequence[EpochEntry], runs: Sequence[EpochRun]) -> None:
    """Set the replica's leader epochs from its checkpoint and its segments.

    If the checkpoint and the segments contradict each other, the replica becomes unusable.
    """
    file = os.path.join(replica.path, checkpoints.EPOCHS)
    if entries and entries[0].start > replica.start:
        replica.start = entries[0].start  # records were deleted; log-start-offset-checkpoint may be older
    by_epoch = {run.epoch: run for run in runs if run.last.last >= replica.start}
    is_all_there = not replica.problems
    if runs and entries and entries[0].start < runs[0].first.base and not replica.is_compacted:
        entries = _local(entries, runs[0].first.base)
        replica.problems.append(
            f"{file}: goes back to offsets before {runs[0].first.base:,}, where the segments begin: older segments are"
            " in tiered storage, or are missing. The log was compared from there on"
        )
    for index, entry in enumerate(entries):
        run = by_epoch.pop(entry.epoch, None)
        if entry.start > replica.end:
            if is_all_there:
                replica.problems.append(
                    f"{file}, line {entry.line}: epoch {entry.epoch} starts at offset {entry.start:,}, and the log"
                    f" ends at {replica.end:,}"
                )
            break
        following = entries[index + 1].start if index + 1 < len(entries) else None
        if not _agree(replica, entry, run, following, index == 0):
            replica.problems.append(
                f"{file}, line {entry.line}: epoch {entry.epoch} starts at offset {entry.start:,}, and the segments"
                " show something else"
            )
            replica.is_usable = False
            return
        replica.epochs.append(Epoch(entry.epoch, entry.start, entry.line, run))
    unconfirmed = [run for run in by_epoch.values() if run.epoch > replica.latest]
    if len(unconfirmed) < len(by_epoch):
        replica.problems.append(f"{file}: the segments have leader epochs that are not in it")
        replica.is_usable = False
    elif unconfirmed:
        first = min(run.first.base for run in unconfirmed)
        replica.end = max(replica.start, first)
        replica.problems.append(
            f"{file}: does not have the last leader epochs of the segments yet; from offset {first:,} on the log was"
            " not used"
        )


def _local(entries: Sequence[EpochEntry], begins: int) -> list[EpochEntry]:
    """Return the epochs of offsets from `begins` on. With tiered storage (KIP-405), `entries` has older epochs too."""
    before = [entry for entry in entries if entry.start <= begins]
    return [replace(before[-1], start=begins), *entries[len(before) :]]


def _agree(
    replica: DiskReplica, entry: EpochEntry, run: EpochRun | None, following: int | None, is_first: bool
) -> bool:
    """Return whether an entry of the checkpoint agrees with the batches of its epoch."""
    if run is None:  # only a leader that has written nothing yet leaves such an entry (LeaderEpochFileCache.assign)
        return replica.is_compacted or (following is None and entry.start == replica.end)
    starts_there = run.first.base == entry.start
    may_be_later = replica.is_compacted and run.first.base >= entry.start
    was_deleted = is_first and run.first.base <= entry.start <= run.last.last + 1
    ends_before = following is None or run.last.last < following
    return (starts_there or may_be_later or was_deleted) and ends_before
