"""Log lines as brokers of Kafka 4.x write them: a broker leads, follows, truncates or deletes a log."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from epochfuzz.harness.audit import one_process
from epochfuzz.harness.audit.audit import Audit, AuditRequest

LOGS = Path(__file__).parent / "logs"
ID = "abcdefghijklmnopqrstuv"


def leads(
    broker: int,
    epoch: int,
    offset: int,
    high_watermark: int = 0,
    isr: str = "1,2,3",
    before: tuple[object, int] = ("None", -1),
    partition: str = "t-0",
    topic_id: str = ID,
) -> str:
    previous = f"Some({before[0]})" if before[0] != "None" else "None"
    return (
        f"[Broker id={broker}] Leader {partition} with topic id Some({topic_id}) starts at leader epoch {epoch} from"
        f" offset {offset} with partition epoch {epoch}, high watermark {high_watermark}, ISR [{isr}], adding replicas"
        f" [] and removing replicas [] . Previous leader {previous} and previous leader epoch was {before[1]}."
        " (state.change.logger)"
    )


def follows(
    broker: int, leader: int, epoch: int, offset: int, high_watermark: int = 0, before: int = -1, partition: str = "t-0"
) -> str:
    previous = f"Some({leader})" if before >= 0 else "None"
    return (
        f"[Broker id={broker}] Follower {partition} starts at leader epoch {epoch} from offset {offset} with partition"
        f" epoch {epoch} and high watermark {high_watermark}. Current leader is {leader}. Previous leader {previous}"
        f" and previous leader epoch was {before}. (state.change.logger)"
    )


def truncates(offset: int, partition: str = "t-0") -> str:
    return f"[UnifiedLog partition={partition}, dir=/d] Truncating to offset {offset} (kafka.log.UnifiedLog)"


def deletes(partition: str = "t-0") -> str:
    return (
        f"Log for partition {partition} is renamed to /d/{partition}.0-delete and is scheduled for deletion"
        " (kafka.log.LogManager)"
    )


def stamped(messages: Iterable[str], start: int = 0) -> str:
    """Return the lines of a file, a second apart."""
    lines = []
    for second, message in enumerate(messages, start=start):
        minutes, seconds = divmod(second, 60)
        lines.append(f"[2026-01-02 03:{minutes:02d}:{seconds:02d},000] INFO {message}\n")
    return "".join(lines)


def written(directory: Path, brokers: dict[int, list[str]]) -> Path:
    """Write a directory with a server.log for each broker."""
    for broker, messages in brokers.items():
        own = directory / f"broker-{broker}"
        own.mkdir(parents=True, exist_ok=True)
        (own / "server.log").write_text(stamped(messages))
    return directory


def audited(*paths: Path, **asked: Any) -> Audit:
    return one_process.run(AuditRequest.of(map(str, paths), **asked), lambda text: None)


def found(audit: Audit) -> list[tuple[str, str, int | None, int | None]]:
    return [(each.what, each.name, each.first_offset, each.last_offset) for each in audit.findings]


def findings_of(directory: Path, brokers: dict[int, list[str]]) -> list[tuple[str, str, int | None, int | None]]:
    return found(audited(written(directory, brokers)))
