"""Divergence: find two replicas with different batches of one leader epoch at the same offsets.

Only the leader of an epoch appends, and followers copy its batches byte by byte. If two intact batches differ, the
epoch had two leaders, or a follower kept its own records. A file that was copied into a directory from elsewhere would
show such a difference too. Audit therefore reports a divergence only if the two logs have another batch in common, and
if both high watermarks are above the difference.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from epochfuzz.harness.audit.disks.files import Unreadable, entries, opened
from epochfuzz.harness.audit.disks.records import LARGEST_BATCH, is_intact
from epochfuzz.harness.audit.disks.replicas import DiskReplica
from epochfuzz.harness.audit.disks.segments import NAME, BatchHeader, Damage, EpochRun, headers
from epochfuzz.harness.audit.judgement.findings import PartitionFinding, What
from epochfuzz.harness.audit.lines.events import Event

_MOST = 500_000  # batches that an audit reads a second time; then it compares only the first and last of an epoch
_CLEANED = 0x40  # attribute of a batch that the log cleaner has written


class ReadBudget:
    """The number of batches that may still be read a second time."""

    def __init__(self, batches: int = _MOST) -> None:
        self._left = batches

    def take(self, batches: int) -> bool:
        """Reduce the budget by a number of batches. Returns False, and reduces nothing, if too few are left."""
        if batches > self._left:
            return False
        self._left -= batches
        return True


@dataclass(frozen=True, slots=True)
class BatchPlace:
    """A batch with its file."""

    file: str
    batch: BatchHeader


@dataclass(frozen=True)
class Difference:
    """The differing batches of one leader epoch in two replicas.

    `is_alike` is True if the replicas also have at least one batch that is equal.
    """

    one: DiskReplica
    other: DiskReplica
    pairs: tuple[tuple[BatchPlace, BatchPlace], ...]  # with the same base offset, in order
    is_alike: bool

    @property
    def first(self) -> tuple[BatchPlace, BatchPlace]:
        """The first two batches that differ."""
        return self.pairs[0]

    @cached_property
    def wrong_checksum(self) -> BatchPlace | None:
        """The first batch of the pair `first` with a wrong checksum, or None. Reads the batches only once."""
        return next((each for each in self.first if not _is_intact(each)), None)

    @cached_property
    def is_certain(self) -> bool:
        """True if neither damage nor compaction nor a file from elsewhere can explain the difference."""
        marks = [each.high_watermark for each in (self.one, self.other)]
        one, other = (place.batch for place in self.first)
        return (
            self.is_alike
            and one.last == other.last
            and all(mark is not None and one.last < mark for mark in marks)
            and not any(_is_cleaned(batch) for batch in (one, other))
            and self.wrong_checksum is None
        )


def difference_of(one: DiskReplica, other: DiskReplica, budget: ReadBudget) -> Difference | None:
    """Return the difference between two replicas in the first leader epoch that differs, or None.

    Returns None for a compacted log.
    """
    if one.is_compacted or other.is_compacted:
        return None
    runs = {each.number: each.run for each in one.epochs if each.run is not None}
    found: tuple[tuple[BatchPlace, BatchPlace], ...] = ()
    is_alike = False
    for each in other.epochs:
        own = runs.get(each.number)
        if own is None or each.run is None:
            continue
        same, differing = _compared((one, own), (other, each.run), budget)
        is_alike = is_alike or same > 0
        found = found or differing
    return Difference(one, other, found, is_alike) if found else None


def _compared(
    one: tuple[DiskReplica, EpochRun], other: tuple[DiskReplica, EpochRun], budget: ReadBudget
) -> tuple[int, tuple[tuple[BatchPlace, BatchPlace], ...]]:
    """Count the equal batches in two runs of a leader epoch. Returns this number and the pairs that differ.

    Each pair has the batches of both replicas at the same base offset.
    """
    first = max(run.first.base for _, run in (one, other))
    last = min(run.last.base for _, run in (one, other))
    if first <= last and budget.take(one[1].batches + other[1].batches):
        places = [_batches(replica, run, first, last) for replica, run in (one, other)]
    else:
        places = [_ends(run) for _, run in (one, other)]
    by_base = {place.batch.base: place for place in places[0]}
    pairs = [(by_base[place.batch.base], place) for place in places[1] if place.batch.base in by_base]
    differing = tuple(pair for pair in pairs if pair[0].batch.identity != pair[1].batch.identity)
    return len(pairs) - len(differing), differing


def _ends(run: EpochRun) -> Iterator[BatchPlace]:
    yield BatchPlace(run.file, run.first)
    if run.batches > 1:
        yield BatchPlace(run.last_file or run.file, run.last)


def _batches(replica: DiskReplica, run: EpochRun, first: int, last: int) -> Iterator[BatchPlace]:
    """Yield the batches of a run whose base offsets are from `first` to `last`.

    If the replica is a dump of Kafka's tool, yield only the first and the last of these batches.
    """
    try:
        names = [each for each in entries(replica.path) if each.is_file and NAME.fullmatch(each.name)]
    except Unreadable:
        names = []
    if run.file not in {each.path for each in names}:
        yield from _ends(run)
        return
    bases = [int(each.name[:20]) for each in names]
    for entry, base, following in zip(names, bases, [*bases[1:], last + 1], strict=True):
        if base > last or following <= first:
            continue
        try:
            with opened(entry.path) as descriptor:
                for batch in headers(descriptor, os.fstat(descriptor).st_size, base):
                    if batch.base > last:
                        return
                    if batch.base >= first and batch.epoch == run.epoch:
                        yield BatchPlace(entry.path, batch)
        except (Damage, Unreadable):
            return


def _is_cleaned(batch: BatchHeader) -> bool:
    """Return whether the log cleaner may have changed a batch, because the batch is marked or lacks records."""
    return bool(batch.attributes & _CLEANED) or batch.records != batch.last - batch.base + 1


def _is_intact(place: BatchPlace) -> bool:
    batch = place.batch
    if batch.size > LARGEST_BATCH:
        return False
    try:
        with opened(place.file) as descriptor:
            return is_intact(batch, os.pread(descriptor, batch.size, batch.position))
    except Unreadable:
        return False


def divergences(topic: str, partition: int, differences: Sequence[Difference]) -> Iterator[PartitionFinding]:
    """Yield one finding for each leader epoch and offset where replicas differ. All differences must be certain."""
    groups: dict[tuple[str | None, int, int], list[Difference]] = defaultdict(list)
    for each in differences:
        batch = each.first[0].batch
        groups[each.one.topic_id, batch.epoch, batch.base].append(each)
    for (_, epoch, base), same in groups.items():
        evidence = tuple(dict.fromkeys(event for each in same for event in _evidence(each)))
        last = max(pair[0].batch.last for each in same for pair in each.pairs)
        who = list(dict.fromkeys(replica.who for each in same for replica in (each.one, each.other)))
        named = " and ".join((", ".join(who[:-1]), who[-1]))
        yield PartitionFinding(
            what=What.DIVERGED,
            topic=topic,
            partition=partition,
            first_offset=base,
            last_offset=last,
            leader_epoch=epoch,
            time=max(event.time for event in evidence),
            told=f"{named[0].upper()}{named[1:]} have different batches of leader epoch {epoch} at offset {base:,},"
            " with right checksums and below their high watermarks. A consumer may have read either of them.",
            evidence=evidence,
            around=evidence,
        )


def _evidence(difference: Difference) -> Iterator[Event]:
    for replica, place in zip((difference.one, difference.other), difference.first, strict=True):
        batch = place.batch
        text = (
            f"byte {batch.position}: a batch of leader epoch {batch.epoch}, offsets {batch.base} to {batch.last},"
            f" checksum {batch.crc & 0xFFFFFFFF:08x}"
        )
        yield replica.event(place.file, batch.position, batch.time, text, leader_epoch=batch.epoch, offset=batch.base)
        yield replica.shows_high_watermark()
