"""The leader epoch cache of a replica."""

from tests.conform.subject.disk import Disk

UNDEFINED = -1


class LeaderEpochs:
    """Which epoch started at which offset, kept in memory and in the checkpoint file alike."""

    def __init__(self, disk: Disk, clears_conflicts: bool) -> None:
        self.entries = disk.read_epochs()
        self._disk = disk
        self._clears_conflicts = clears_conflicts  # KAFKA-7415

    @property
    def latest(self) -> int:
        """The latest epoch, UNDEFINED where there is none."""
        return self.entries[-1][0] if self.entries else UNDEFINED

    def assign(self, epoch: int, offset: int) -> None:
        """A record of that epoch is, or will be, at that offset."""
        if self.entries and epoch == self.latest and offset >= self.entries[-1][1]:
            return
        if self._clears_conflicts:
            kept = [entry for entry in self.entries if entry[0] < epoch and entry[1] < offset]
            self._replace([*kept, (epoch, offset)])
        elif not self.entries or (epoch > self.latest and offset >= self.entries[-1][1]):
            self._replace([*self.entries, (epoch, offset)])

    def cut(self, end: int) -> None:
        """The log ends at `end` now."""
        kept = [entry for entry in self.entries if entry[1] < end]
        if kept != self.entries:
            self._replace(kept)

    def end_of(self, epoch: int, log_end: int) -> tuple[int, int]:
        """The largest epoch that is not above the one asked for, and where it ends. Of later ones nothing is known."""
        if epoch == UNDEFINED or epoch > self.latest:
            return UNDEFINED, UNDEFINED
        at = sum(1 for entry in self.entries if entry[0] <= epoch) - 1
        if at < 0:
            return (epoch, self.entries[0][1]) if self._clears_conflicts else (UNDEFINED, UNDEFINED)
        is_last = at == len(self.entries) - 1
        return self.entries[at][0], log_end if is_last else self.entries[at + 1][1]

    def _replace(self, entries: list[tuple[int, int]]) -> None:
        self.entries = entries
        self._disk.write_epochs(entries)
