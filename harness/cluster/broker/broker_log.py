"""Parse a broker's log lines about partitions: leader epochs, their start offsets, and truncations.

Covers the INFO lines of state-change.log and of the replica fetchers, as Kafka has written them since 3.0.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

_LINE = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (\w+) (.*) \((\S+)\)")
_LEADER = re.compile(
    r"Leader (?P<partition>\S+-\d+) .*starts at leader epoch (?P<epoch>\d+) from offset (?P<offset>\d+)"
    r".* high watermark (?P<high_watermark>\d+),? ISR \[?(?P<isr>[\d,]*)\]?"
    r"(?:.*revious leader (?:Some\()?(?P<previous_leader>-?\d+)\b)?"
    r"(?:.*revious leader epoch was (?P<previous_epoch>-?\d+))?"
)
_FOLLOWER = re.compile(
    r"Follower (?P<partition>\S+-\d+) starts at leader epoch (?P<epoch>\d+) from offset (?P<offset>\d+)"
    r".* high watermark (?P<high_watermark>\d+)(?:\. Current leader is (?P<leader>-?\d+))?"
)
_TRUNCATION = re.compile(r"Truncating partition (?P<partition>\S+-\d+) with .*?offset=(?P<offset>\d+)")


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """A parsed log line about a partition: the broker became leader or follower, or truncated its log."""

    at: float  # seconds since the epoch, by the broker's clock
    text: str
    kind: str  # leader, follower or truncation
    partition: str
    offset: int
    epoch: int = -1
    high_watermark: int = -1
    isr: tuple[int, ...] = ()
    leader: int | None = None  # the leader that a follower follows; not logged before 3.6
    previous_leader: int | None = None  # not logged before 3.6
    previous_epoch: int | None = None


def parse(text: str) -> LogLine | None:
    """Return a log line in parsed form. None unless the broker became leader or follower, or truncated its log."""
    framed = _LINE.fullmatch(text.rstrip("\n"))
    if framed is None:
        return None
    for kind, pattern in (("leader", _LEADER), ("follower", _FOLLOWER), ("truncation", _TRUNCATION)):
        found = pattern.search(framed[3])
        if found is not None:
            said = {name: value for name, value in found.groupdict().items() if value is not None}
            isr = tuple(int(member) for member in said.pop("isr", "").split(",") if member)
            numbers = {name: int(value) for name, value in said.items() if name != "partition"}
            at = datetime.strptime(framed[1], "%Y-%m-%d %H:%M:%S,%f").timestamp()
            return LogLine(at=at, text=text.rstrip("\n"), kind=kind, partition=said["partition"], isr=isr, **numbers)
    return None


class BrokerLog:
    """The log file of a broker. `lines` and `lines_of` also read the lines that the broker has added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: list[LogLine] = []
        self._read = 0  # bytes of the file

    def lines(self, partition: str) -> list[LogLine]:
        """Return all parsed lines about a partition, such as `t-0`, that the file has now."""
        self._lines.extend(self._new())
        return [line for line in self._lines if line.partition == partition]

    def lines_of(self, topic: str) -> list[LogLine]:
        """Return all parsed lines about the partitions of a topic that the file has now."""
        self._lines.extend(self._new())
        return [line for line in self._lines if line.partition.rpartition("-")[0] == topic]

    def role(self, partition: str) -> LogLine | None:
        """Return the last line that names the broker's role in a partition (leader or follower), or None."""
        return next((line for line in reversed(self.lines(partition)) if line.kind != "truncation"), None)

    def last_error(self) -> str:
        """Return the last line with an error. Without an error, return the last line of the file."""
        try:
            every = [line for line in self.path.read_text(errors="replace").splitlines() if line.strip()]
        except OSError:
            return ""
        bad = [line for line in every if " ERROR " in line or " FATAL " in line or "Exception" in line]
        return (bad or every or [""])[-1].strip()

    def _new(self) -> Iterator[LogLine]:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            whole = file.read().rpartition(b"\n")
        self._read += len(whole[0]) + len(whole[1])
        for text in whole[0].decode(errors="replace").split("\n"):
            line = parse(text)
            if line is not None:
                yield line
