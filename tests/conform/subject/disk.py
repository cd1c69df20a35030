"""What a replica has on disk, in Kafka's formats: its log, its leader epochs, its high watermark.

A shadow of the log, as it was at the last fsync, stands for what a power failure leaves behind.
"""

import os
import shutil
from pathlib import Path

from tests.conform.subject.records import Batch, batches

TOPIC = "events"


class Disk:
    """The directory of a replica, laid out as a broker's log directory is."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.partition = directory / f"{TOPIC}-0"
        self.log = self.partition / "00000000000000000000.log"
        self.epochs = self.partition / "leader-epoch-checkpoint"
        self.high_watermark = directory / "replication-offset-checkpoint"
        self.shadow = directory / "shadow.log"

    def format(self) -> None:
        """Empty it."""
        shutil.rmtree(self.partition, ignore_errors=True)
        self.partition.mkdir(parents=True)
        for file in (self.log, self.shadow):
            file.write_bytes(b"")
        write_lines(self.epochs, [])
        write_lines(self.high_watermark, [f"{TOPIC} 0 0"])

    def read_log(self) -> list[Batch]:
        """The sound part of the log."""
        return list(batches(self.log.read_bytes()))

    def read_epochs(self) -> list[tuple[int, int]]:
        """Epochs and their start offsets."""
        return [(int(epoch), int(start)) for epoch, start in map(str.split, read_lines(self.epochs))]

    def read_high_watermark(self) -> int:
        """The high watermark that was checkpointed; the log may have become shorter since."""
        (line,) = read_lines(self.high_watermark)
        topic, partition, offset = line.split()
        assert (topic, partition) == (TOPIC, "0")
        return int(offset)

    def write_epochs(self, entries: list[tuple[int, int]]) -> None:
        """Replace the checkpoint of leader epochs."""
        write_lines(self.epochs, [f"{epoch} {start}" for epoch, start in entries])

    def write_high_watermark(self, offset: int) -> None:
        """Replace the checkpoint of the high watermark."""
        write_lines(self.high_watermark, [f"{TOPIC} 0 {offset}"])

    def sync(self) -> bool:
        """fsync the log: from now on this much of it survives a power failure. False: it would already."""
        if self.shadow.stat().st_size == self.log.stat().st_size:
            return False
        with self.log.open("rb+") as log:
            os.fsync(log.fileno())
        shutil.copyfile(self.log, self.shadow)
        return True

    def sync_length(self, size: int) -> None:
        """A file that was truncated does not grow back when the power fails."""
        if self.shadow.stat().st_size > size:
            os.truncate(self.shadow, size)

    def lose_power(self) -> None:
        """What was not fsynced is gone; so are epochs of which the log has no record any more, or not yet."""
        shutil.copyfile(self.shadow, self.log)
        end = len(self.read_log())
        self.write_epochs([(epoch, start) for epoch, start in self.read_epochs() if start < end])


def write_lines(file: Path, lines: list[str]) -> None:
    """A checkpoint file: version, number of lines, lines. It is replaced as a whole or not at all."""
    written = file.with_suffix(".tmp")
    written.write_text("\n".join(["0", str(len(lines)), *lines, ""]))
    written.replace(file)


def read_lines(file: Path) -> list[str]:
    """The lines of a checkpoint file."""
    version, count, *lines = file.read_text().splitlines()
    assert version == "0", f"{file.name} is of version {version}"
    assert int(count) == len(lines), f"{file.name} has {len(lines)} lines, and {count} were announced"
    return lines
