"""The sequence numbers of idempotent producers: a gap in these numbers shows that a log lacks batches.

In each producer epoch, a producer numbers its records per partition from 0 (KIP-98). A leader that knows the producer
rejects a batch that does not continue these numbers (ProducerAppendInfo.checkSequence). Since 2.5, a leader that does
not know the producer accepts any number (KIP-360). So a gap can appear after an unclean election or the loss of a disk.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_NUMBERS = 2**31  # sequence numbers; 0 follows the last one (DefaultRecordBatch.incrementSequence)
_MOST_RUNS = 20_000  # of one segment


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerRun:
    """A series of batches of one producer epoch in a segment. Their sequence numbers have no gap."""

    producer: int
    epoch: int  # of the producer
    first: int  # the first sequence number
    following: int  # the sequence number after the last one
    position: int  # of the first batch: the byte in the segment, or the line of a dump
    offset: int  # of the first record


@dataclass(frozen=True, slots=True)
class SequenceGap:
    """A gap: a log lacks the sequence numbers `expected` to `run.first - 1` of a producer epoch."""

    file: str
    expected: int
    run: ProducerRun  # begins after the gap

    @property
    def missing(self) -> int:
        """The number of missing records."""
        return (self.run.first - self.expected) % _NUMBERS


def _run(producer: int, epoch: int, last: list[int]) -> ProducerRun:
    first, following, position, offset = last
    return ProducerRun(
        producer=producer, epoch=epoch, first=first, following=following, position=position, offset=offset
    )


class ProducerRuns:
    """Collects the runs of sequence numbers of one segment, batch by batch."""

    def __init__(self) -> None:
        self._done: list[ProducerRun] = []
        # By producer and epoch: the fields of the last run. A segment has many batches, and changing a list is fast.
        self._last: dict[tuple[int, int], list[int]] = {}

    def add(self, producer: int, epoch: int, sequence: int, records: int, position: int, offset: int) -> None:
        """Add a batch. `records` counts its records, including records that compaction has removed."""
        if producer < 0 or sequence < 0:
            return  # without idempotence, or a transaction marker
        last = self._last.get((producer, epoch))
        following = (sequence + records) % _NUMBERS
        if last is not None and last[1] == sequence:
            last[1] = following
            return
        if last is not None:
            self._done.append(_run(producer, epoch, last))
        self._last[producer, epoch] = [sequence, following, position, offset]

    def collected(self) -> tuple[ProducerRun, ...] | None:
        """Return the runs in the order of their first batches, or None if there are too many to keep."""
        runs = self._done + [_run(*key, last) for key, last in self._last.items()]
        if len(runs) > _MOST_RUNS:
            return None
        return tuple(sorted(runs, key=lambda run: run.offset))


def sequence_gaps(
    segments: Iterable[tuple[str, tuple[ProducerRun, ...] | None]], is_whole: bool
) -> Iterator[SequenceGap]:
    """Yield the gaps in the sequence numbers of a log.

    `segments` has the file and the runs (ProducerRun) of each segment, in the order of their offsets.

    If `is_whole`, the log begins at offset 0, and the numbers of each producer epoch must begin at 0 too. A number that
    goes back is not a gap, because nothing is missing. A segment with too many runs to keep has None in place of its
    runs, and the search stops there.
    """
    expected: dict[tuple[int, int], int] = {}
    for file, runs in segments:
        if runs is None:
            return
        for run in runs:
            key = run.producer, run.epoch
            due = expected.get(key, 0 if is_whole else run.first)
            if 0 < (run.first - due) % _NUMBERS < _NUMBERS // 2:
                yield SequenceGap(file, due, run)
            expected[key] = run.following
