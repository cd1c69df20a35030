"""Segments: read the headers of all batches, and the leader epochs in the headers. The records are not read.

A header of message format 2 has 61 bytes (cluster/record_format/batches.py). Its checksum does not cover the base
offset, the length and the leader epoch. A header therefore counts only if its offset and epoch continue the previous
batch.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from epochfuzz.harness.audit.disks.files import Unreadable, opened
from epochfuzz.harness.audit.disks.producers import ProducerRun, ProducerRuns
from epochfuzz.harness.audit.errors import reason
from epochfuzz.harness.cluster.record_format.batches import BEFORE_LENGTH_COUNTS, HEADER

NAME = re.compile(r"([0-9]{20})\.log")

_LEAST_LENGTH = HEADER.size - BEFORE_LENGTH_COUNTS
_MAGIC = 2
_MAGIC_AT = 16  # bytes from the start of a batch, in every format
_NO_EPOCH = -1
_LATEST = 253_402_300_799_999  # ms: the year 9999
_MOST_RUNS = 50_000  # leader epochs in one segment
_BLOCK = 64 << 10  # bytes read at once while batches are small
_SMALL = 4 << 10  # bytes: from this size on, each header is read by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchHeader:
    """The header of one batch, and where it begins. Two batches with equal `identity` are copies of each other."""

    position: int
    base: int
    last: int
    epoch: int
    size: int  # bytes, with the header
    crc: int
    attributes: int
    time: int  # the greatest timestamp, in milliseconds
    producer: int
    producer_epoch: int
    sequence: int
    records: int

    @property
    def identity(self) -> tuple[int, ...]:
        """The fields that followers copy from the leader without a change."""
        return self.base, self.last, self.epoch, self.crc, self.producer, self.sequence, self.records


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochRun:
    """Consecutive batches of one leader epoch, in one segment or in several that follow each other."""

    file: str
    epoch: int
    first: BatchHeader
    last: BatchHeader
    batches: int
    last_file: str | None = None  # of the last batch, if it is not `file`

    @property
    def unit(self) -> str:
        """The unit of positions: bytes of a segment, or lines of a dump."""
        return unit_of(self.file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The headers of one segment. `problem` is the reason why reading stopped before the end, or None."""

    file: str
    base: int
    size: int
    runs: tuple[EpochRun, ...]
    holes: int = 0  # offsets that are missing between batches, for example after compaction
    problem: str | None = None
    is_torn: bool = False  # the file ends within a batch
    producers: tuple[ProducerRun, ...] | None = ()  # None: too many

    @property
    def end(self) -> int:
        """Return the offset after the last batch."""
        return self.runs[-1].last.last + 1 if self.runs else self.base


class Damage(Exception):
    """A header that Kafka would not have written at its position. `is_torn` is True if the file ends within a batch."""

    def __init__(self, position: int, what: str, is_torn: bool = False, unit: str = "byte") -> None:
        super().__init__(f"{unit} {position:,}: {what}")
        self.is_torn = is_torn


def unit_of(file: str) -> str:
    """Return the unit of positions in a file: bytes of a segment, or lines of a dump."""
    return "byte" if NAME.fullmatch(os.path.basename(file)) else "line"


def segment_of(file: str) -> Segment:
    """Read the headers of a segment."""
    match = NAME.fullmatch(os.path.basename(file))
    base = int(match[1]) if match else 0
    try:
        with opened(file) as descriptor:
            size = os.fstat(descriptor).st_size
            return collected(file, base, size, headers(descriptor, size, base))
    except Unreadable as error:
        return Segment(file=file, base=base, size=0, runs=(), problem=str(error))


def collected(file: str, base: int, size: int, batches: Iterator[BatchHeader]) -> Segment:
    """Group the headers of a segment by leader epoch, up to the first unusable header."""
    runs: list[EpochRun] = []
    first: BatchHeader | None = None
    last: BatchHeader | None = None
    count = holes = 0
    producers = ProducerRuns()
    problem, is_torn = None, False
    try:
        for batch in batches:
            if first is None or last is None:
                first = batch
            elif batch.epoch != last.epoch:
                runs.append(EpochRun(file=file, epoch=last.epoch, first=first, last=last, batches=count))
                first, count = batch, 0
                if len(runs) >= _MOST_RUNS:
                    raise Damage(batch.position, f"more than {_MOST_RUNS:,} leader epochs in one segment")
            holes += 0 if last is None else batch.base - last.last - 1
            last = batch
            count += 1
            if batch.producer >= 0:
                numbers = batch.last - batch.base + 1
                producers.add(batch.producer, batch.producer_epoch, batch.sequence, numbers, batch.position, batch.base)
    except Damage as damage:
        problem, is_torn = str(damage), damage.is_torn
    except OSError as error:
        problem = f"cannot be read: {reason(error)}"
    if first is not None and last is not None and last.epoch == first.epoch:
        runs.append(EpochRun(file=file, epoch=last.epoch, first=first, last=last, batches=count))
    return Segment(
        file=file,
        base=base,
        size=size,
        runs=tuple(runs),
        holes=holes,
        problem=problem,
        is_torn=is_torn,
        producers=producers.collected(),
    )


def headers(descriptor: int, size: int, base: int) -> Iterator[BatchHeader]:
    """Yield the headers of all batches in a file. Each header continues the previous one. Raises Damage and OSError."""
    at, least_offset, least_epoch = 0, base, 0
    block, block_at, wanted = b"", 0, _BLOCK
    unpack, header_size = HEADER.unpack_from, HEADER.size
    while at < size:
        within = at - block_at
        if within < 0 or within + header_size > len(block):
            block, block_at, within = os.pread(descriptor, wanted, at), at, 0
            if len(block) < header_size:
                _check_end(block, at)
                return
        offset, length, epoch, magic, crc, attributes, delta, _, time, producer, term, sequence, records = unpack(
            block, within
        )
        whole = length + BEFORE_LENGTH_COUNTS
        last = offset + delta
        if (
            magic != _MAGIC
            or length < _LEAST_LENGTH
            or at + whole > size
            or offset < least_offset
            or delta < 0
            or last >= 1 << 62
            or epoch < least_epoch
            or not 0 <= records <= delta + 1
        ):
            if not any(block[within : within + header_size]):
                _check_zeros(descriptor, at, size)
                return
            raise _damage(at, block[within + _MAGIC_AT], length, size, offset, least_offset, epoch, least_epoch)
        yield BatchHeader(
            position=at,
            base=offset,
            last=last,
            epoch=epoch,
            size=whole,
            crc=crc,
            attributes=attributes,
            time=bounded(time),
            producer=producer,
            producer_epoch=term,
            sequence=sequence,
            records=records,
        )
        wanted = _BLOCK if whole < _SMALL else header_size
        at += whole
        least_offset, least_epoch = last + 1, epoch


def bounded(time: int) -> int:
    """Return a time in milliseconds, limited to the years 1970 to 9999."""
    return min(max(time, 0), _LATEST)


def _check_end(rest: bytes, at: int) -> None:
    """Raise Damage if the rest of a file is more than the zeros of a preallocated file."""
    if any(rest):
        raise Damage(at, "the file ends within a batch", is_torn=True)


def _check_zeros(descriptor: int, at: int, size: int) -> None:
    """Raise Damage unless the file has only zeros from byte `at` on, as with log.preallocate."""
    while at < size:
        block = os.pread(descriptor, 1 << 20, at)
        if not block:
            return
        if any(block):
            raise Damage(at, "there are zeros where a batch should begin, and data after them")
        at += len(block)


def _damage(
    at: int, magic: int, length: int, size: int, offset: int, least_offset: int, epoch: int, least_epoch: int
) -> Damage:
    """Return the Damage that describes the first error in a header."""
    if magic in (0, 1):
        return Damage(at, f"a batch of message format {magic}, from before Kafka 0.11, which has no leader epochs")
    if magic != _MAGIC:
        return Damage(at, f"not a batch: its format would be {magic}")
    if length < _LEAST_LENGTH:
        return Damage(at, f"not a batch: its length would be {length}")
    if at + length + BEFORE_LENGTH_COUNTS > size:
        return Damage(at, "the file ends within a batch", is_torn=True)
    if offset < least_offset:
        return Damage(at, f"a batch begins at offset {offset}, and offset {least_offset} is the least possible")
    if epoch == _NO_EPOCH:
        return Damage(at, "a batch has no leader epoch")
    if epoch < least_epoch:
        return Damage(at, f"a batch has leader epoch {epoch}, and the previous batch has {least_epoch}")
    return Damage(at, "a batch has impossible offsets")
