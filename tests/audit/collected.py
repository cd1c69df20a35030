"""One log of a loss, in the layouts in which people have logs: python -m tests.audit.collected DIRECTORY writes it."""

import bz2
import csv
import gzip
import io
import json
import lzma
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ID = "AbCdEfGhTjKlMnOpQrStUv"
_LEADS = (
    "[Broker id={0}] Leader shop.carts-0 with topic id Some(" + ID + ") starts at leader epoch {1} from offset {2} with"
    " partition epoch {3}, high watermark {2}, ISR [{4}], adding replicas [] and removing replicas [] . Previous leader"
    " {5} and previous leader epoch was {6}."
)
_FOLLOWS = (
    "[Broker id={0}] Follower shop.carts-0 starts at leader epoch {1} from offset {2} with partition epoch {3} and high"
    " watermark {2}. Current leader is {4}. Previous leader None and previous leader epoch was -1."
)
_LOG = "[UnifiedLog partition=shop.carts-0, dir=/var/lib/kafka/data-0/kafka-log1] "
_STATE, _PARTITION = "state.change.logger", "kafka.cluster.Partition"


@dataclass(frozen=True)
class Line:
    """A line of a broker's log, without a layout."""

    broker: int
    at: str
    level: str
    logger: str
    message: str

    @property
    def time(self) -> datetime:
        return datetime.fromisoformat(self.at).replace(tzinfo=UTC)

    @property
    def milliseconds(self) -> int:
        return round(self.time.timestamp() * 1000)

    @property
    def own(self) -> str:
        """As Kafka's own configuration of log4j has it."""
        return f"[{self.at.replace('.', ',')}] {self.level} {self.message} ({self.logger})"

    @property
    def plain(self) -> str:
        """The same without milliseconds and logger, as Strimzi has it since Kafka 4.0."""
        return f"{self.at[:19]} {self.level:<5} [kafka-scheduler-0] {self.short}:66 - {self.message}"

    @property
    def short(self) -> str:
        return self.logger.rpartition(".")[2]


LINES = (
    Line(1, "2026-09-04 03:00:00.101", "INFO", _STATE, _LEADS.format(1, 0, 0, 0, "1,2", "None", -1)),
    Line(2, "2026-09-04 03:00:00.120", "INFO", _STATE, _FOLLOWS.format(2, 0, 0, 0, 1)),
    Line(
        1,
        "2026-09-04 03:08:01.511",
        "INFO",
        _PARTITION,
        "[Partition shop.carts-0 broker=1] Shrinking ISR from 1,2 to 1. Leader: (highWatermark: 31000, endOffset:"
        " 31020). Out of sync replicas: (brokerId: 2, endOffset: 31000, lastCaughtUpTimeMs: 1788491281511).",
    ),
    Line(
        2,
        "2026-09-04 03:11:37.900",
        "INFO",
        "org.apache.kafka.controller.ReplicationControlManager",
        f"[QuorumController id=2] UNCLEAN partition change for shop.carts-0 with topic ID {ID}: isr: [1] -> [2],"
        " leader: 1 -> 2, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 2 -> 3, partitionEpoch: 5 -> 6",
    ),
    Line(2, "2026-09-04 03:11:38.001", "INFO", _STATE, _LEADS.format(2, 3, 31000, 6, "2", "Some(1)", 2)),
    Line(
        1,
        "2026-09-04 03:11:50.001",
        "INFO",
        _PARTITION,
        "[Partition shop.carts-0 broker=1] Log loaded for partition shop.carts-0 with initial high watermark 58000",
    ),
    Line(1, "2026-09-04 03:11:50.011", "INFO", _STATE, _FOLLOWS.format(1, 3, 58000, 6, 2)),
    Line(
        1,
        "2026-09-04 03:11:50.101",
        "INFO",
        "kafka.server.ReplicaFetcherThread",
        "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition shop.carts-0 with"
        " TruncationState(offset=31000, completed=true) due to leader epoch and offset EpochEndOffset(errorCode=0,"
        " partition=0, leaderEpoch=2, endOffset=31000)",
    ),
    Line(
        1,
        "2026-09-04 03:11:50.102",
        "WARN",
        "org.apache.kafka.storage.internals.log.UnifiedLog",
        _LOG + "Truncating shop.carts-0 to offset 31000 below high watermark 58000",
    ),
    Line(
        1,
        "2026-09-04 03:11:50.103",
        "INFO",
        "org.apache.kafka.storage.internals.log.UnifiedLog",
        _LOG + "Truncating to offset 31000",
    ),
)
# Without the directory that Strimzi names after a broker, so that only the text before a line shows its broker.
ELSEWHERE = tuple(
    Line(each.broker, each.at, each.level, each.logger, each.message.replace("kafka-log1", "logs")) for each in LINES
)

Written = Callable[[Line], str]


def _as(pattern: str) -> Written:
    """Lines of a log4j pattern, for a few of its names."""

    def line(each: Line) -> str:
        at = each.time
        values = {
            "%iso": each.at.replace(".", ","),
            "%T": each.at.replace(" ", "T"),
            "%dots": each.at,
            "%seconds": each.at[:19],
            "%slashes": each.at.replace("-", "/").replace(".", ","),
            "%compact": at.strftime("%Y%m%d%H%M%S") + each.at[-3:],
            "%date": at.strftime("%d %b %Y %H:%M:%S,") + each.at[-3:],
            "%german": at.strftime("%d.%m.%Y %H:%M:%S"),
            "%java": at.strftime("%b %d, %Y %I:%M:%S %p"),
            "%syslog": at.strftime("%b %d %H:%M:%S"),
            "%clock": each.at[11:].replace(".", ","),
            "%epochms": str(each.milliseconds),
            "%epoch": f"{each.milliseconds / 1000:.3f}",
            "%p": f"{each.level:<5}",
            "%short": each.short,
            "%c": each.logger,
            "%m": each.message,
            "%own": each.own,
            "%strimzi": each.plain,
            "%b": str(each.broker),
            "%j": json.dumps(each.own)[1:-1],
        }
        text = pattern
        for name in sorted(values, key=len, reverse=True):
            text = text.replace(name, values[name])
        return text

    return line


def _json(make: Callable[[Line], object], escape: bool = False) -> Written:
    def line(each: Line) -> str:
        text = json.dumps(make(each))
        return text.replace(">", "\\u003e").replace("<", "\\u003c") if escape else text  # as Go writes it

    return line


def _logged(each: Line) -> dict[str, str]:
    return {"log": each.own + "\n", "stream": "stdout", "time": each.at.replace(" ", "T") + "456789Z"}


def _csv(each: Line) -> str:
    text = io.StringIO()
    csv.writer(text).writerow([each.at, each.level, each.message, each.logger])
    return text.getvalue().rstrip("\r\n")


# A file for each broker.
OWN_FILES: dict[str, Written] = {
    "Kafka's own": _as("%own"),
    "Strimzi's since Kafka 4.0": _as("%strimzi"),
    "Strimzi's before": _as("%iso %p %m (%c) [kafka-scheduler-0]"),
    "thread and logger first": _as("%iso [kafka-request-handler-3] %p %c - %m"),
    "thread before the message": _as("[%iso] %p [kafka-x] %m (%c)"),
    "no logger": _as("[%iso] %p %m"),
    "level first": _as("%p  | %iso | %short | %m"),
    "ISO with T and Z": _as("%TZ %p %m (%c)"),
    "ISO with an offset": _as("%dots+02:00 %p [main] %c{1}: %m"),
    "slashes": _as("%slashes %p %m"),
    "compact": _as("%compact %p %short %m"),
    "log4j's DATE": _as("%date [main] %p %short - %m"),
    "dots": _as("%german %p %m"),
    "clock only": _as("%clock %p %m (%c)"),
    "no time": _as("%p %m (%c)"),
    "message only": _as("%m"),
    "milliseconds since 1970": _as("%epochms %p %m"),
    "seconds since 1970": _as("[%epoch] [%p] [%short] %m"),
    "java.util.logging": _as("%java %c log\n%p: %m"),
    "logfmt": _as('time="%TZ" level=%p msg="%m" logger=%c'),
    "Splunk's key=value": _as('%dots, severity=%p, message="%m", logger="%c"'),
    "CSV": _csv,
    "tabs": _as("%iso\t%p\t%c\t%m"),
    "kubectl logs --timestamps": _as("%T123456Z %own"),
    "containerd": _as("%T123456789Z stdout F %own"),
    "kubectl logs --prefix": _as("[pod/cluster-kafka-%b/kafka] %strimzi"),
    "stern": _as("cluster-kafka-%b kafka %strimzi"),
    "docker compose logs": _as("kafka-%b  | %own"),
    "docker compose logs -t": _as("kafka-%b  | %T123456789Z %own"),
    "docker's json-file": _json(_logged, escape=True),
    "journald": _as("%syslog host-%b kafka-server-start.sh[1234]: %own"),
    "journalctl -o short-iso": _as("%T+0000 host-%b kafka[1234]: %own"),
    "journalctl -o json": _json(
        lambda e: {"MESSAGE": e.own, "__REALTIME_TIMESTAMP": f"{e.milliseconds}000", "_HOSTNAME": f"host-{e.broker}"}
    ),
    "syslog": _as("<13>%syslog host-%b kafka: %m"),
    "RFC 5424": _as("<165>1 %TZ host-%b kafka 1234 ID47 - %own"),
    "aws logs tail": _as("%T+00:00 broker-%b %own"),
    "CloudWatch": _json(
        lambda e: {"timestamp": e.milliseconds, "message": e.own, "logStreamName": f"broker-{e.broker}"}
    ),
    "Fluent Bit": _as('[0] kube.kafka-%b: [[%epoch, {}], {"log"=>"%j"}]'),
    "Fluentd": _as('%T+00:00\tkube.kafka-%b\t{"stream":"stdout","log":"%j\\n"}'),
    "logcli": _as('%TZ {container="kafka-%b"} %own'),
    "Loki's lines": _json(lambda e: {"labels": {"pod": f"kafka-{e.broker}"}, "line": e.own, "timestamp": e.at}),
    "Google Cloud": _json(
        lambda e: {
            "textPayload": e.own,
            "timestamp": e.at.replace(" ", "T") + "Z",
            "resource": {"type": "k8s_container", "labels": {"pod_name": f"kafka-{e.broker}"}},
        }
    ),
    "Splunk's export": _json(
        lambda e: {"preview": False, "result": {"_raw": e.own, "_time": e.at, "host": f"h{e.broker}"}}
    ),
    "Logstash": _json(lambda e: {"@timestamp": e.at.replace(" ", "T") + "Z", "message": e.own, "@version": "1"}),
    "Elastic": _json(lambda e: {"@timestamp": e.at, "event": {"original": e.own}, "host": {"name": f"h{e.broker}"}}),
    "log4j's JSON events": _json(
        lambda e: {
            "instant": {"epochSecond": e.milliseconds // 1000, "nanoOfSecond": e.milliseconds % 1000 * 1000000},
            "thread": "main",
            "level": e.level,
            "loggerName": e.logger,
            "message": e.message,
        }
    ),
    "JSON in JSON": _json(lambda e: {"log": json.dumps({"message": e.message, "timeMillis": e.milliseconds}) + "\n"}),
    "GitHub Actions": _as("%T1234567Z %own"),
    "testcontainers": _as("%clock [docker-java-stream--99] INFO  tc.kafka-%b - STDOUT: %own"),
    "grep -H": _as("logs/kafka-%b/server.log:%own"),
    "grep -Hn": _as("logs/kafka-%b/server.log:17:%own"),
    "colours": _as("\x1b[32m%iso\x1b[0;39m \x1b[1;31m%p\x1b[0;39m %m \x1b[2m(%c)\x1b[0m"),
    "quoted in an issue": _as("> %own"),
    "in a list": _as("    * `%own`"),
    "HTML": lambda each: f"<li>{each.own.replace('>', '&gt;')}</li>",
}
# All brokers in one file.
ONE_FILE = (
    *("kubectl logs --prefix", "stern", "docker compose logs", "docker compose logs -t", "journald", "RFC 5424"),
    *("aws logs tail", "CloudWatch", "logcli", "Loki's lines", "Google Cloud", "Fluentd", "testcontainers", "grep -H"),
)
ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1")
PACKED: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}
try:
    import zstandard

    PACKED["zst"] = zstandard.compress
except ImportError:
    pass


def text_of(layout: str, broker: int | None = None) -> str:
    """Return the text of a broker's file in a layout, or the text of all brokers in one file."""
    lines = ELSEWHERE if broker is None else LINES
    return "".join(OWN_FILES[layout](each) + "\n" for each in lines if broker in (None, each.broker))


def write(directory: Path) -> list[Path]:
    """Write the log in every layout, each in a directory of its own."""
    files: dict[str, dict[str, bytes]] = {
        f"{layout}, by broker": {f"kafka-{b}.log": text_of(layout, b).encode() for b in (1, 2)} for layout in OWN_FILES
    }
    files |= {f"{layout}, in one file": {"all.log": text_of(layout).encode()} for layout in ONE_FILE}
    own = {f"kafka-{b}.log": text_of("Kafka's own", b) for b in (1, 2)}
    files |= {encoding: {name: text.encode(encoding) for name, text in own.items()} for encoding in ENCODINGS}
    files |= {
        packing: {f"{name}.{packing}": pack(text.encode()) for name, text in own.items()}
        for packing, pack in PACKED.items()
    }
    files["CRLF"] = {name: text.replace("\n", "\r\n").encode() for name, text in own.items()}
    files["one line of JSON"] = {
        "events.json": json.dumps(
            {"events": [{"timestamp": e.milliseconds, "message": e.own, "pod": f"kafka-{e.broker}"} for e in ELSEWHERE]}
        ).encode()
    }
    files["pretty JSON"] = {"events.json": json.dumps([_logged(each) for each in LINES], indent=2).encode()}
    files["tar.gz"] = {"logs.tar.gz": _tar(own)}
    files["zip"] = {"logs.zip": _zip(own)}
    files["tar.gz in zip"] = {"logs.zip": _zip({"logs.tar.gz": _tar(own)})}
    for name, contents in files.items():
        (directory / name).mkdir(parents=True)
        for file, content in contents.items():
            (directory / name / file).write_bytes(content)
    return [directory / name for name in files]


def _tar(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"logs/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


def _zip(files: dict[str, str] | dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
