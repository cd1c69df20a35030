"""One log of a loss, as more tools export, split, wrap and encode it than those of collected.py."""

import gzip
import html
import io
import json
import lzma
import quopri
import textwrap
import zipfile
from collections.abc import Iterable
from datetime import timedelta

from tests.audit.collected import ELSEWHERE, LINES, Line, Written

Files = dict[str, bytes]


def _zulu(each: Line) -> str:
    return f"{each.at.replace(' ', 'T')}Z"


def _nanoseconds(each: Line) -> str:
    return f"{each.milliseconds}000000"


def _host(each: Line) -> str:
    return f"kafka-{each.broker}"


def _row(*cells: str) -> str:
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


def _kibana(each: Line) -> str:
    return f"{each.time:%b} {each.time.day}, {each.time:%Y} @ {each.time:%H:%M:%S}.{each.at[-3:]}"


def _american(each: Line) -> str:
    at = each.time
    return f"{at.month}/{at.day}/{at.year}, {int(at.strftime('%I'))}:{at:%M:%S}.{each.at[-3:]} {at:%p}"


def _wrapped(each: Line, width: int, before: str = "", end: str = "") -> str:
    lines = textwrap.wrap(each.own, width, break_long_words=False, break_on_hyphens=False)
    return f"{end}\n".join(before + line for line in lines)


def _in_parts(each: Line) -> list[str]:
    return [each.own[start : start + 90] for start in range(0, len(each.own), 90)]


def _containerd(each: Line) -> str:
    *parts, last = _in_parts(each)
    tagged = [*(("P", part) for part in parts), ("F", last)]
    return "\n".join(f"{each.at.replace(' ', 'T')}456789Z stdout {tag} {part}" for tag, part in tagged)


def _docker(each: Line) -> str:
    *parts, last = _in_parts(each)
    time = f"{each.at.replace(' ', 'T')}456789Z"
    return "\n".join(json.dumps({"log": x, "stream": "stdout", "time": time}) for x in [*parts, f"{last}\n"])


def _otel(each: Line) -> str:
    pod = {"key": "k8s.pod.name", "value": {"stringValue": _host(each)}}
    record = {"timeUnixNano": _nanoseconds(each), "body": {"stringValue": each.message}, "attributes": []}
    logs = {"resource": {"attributes": [pod]}, "scopeLogs": [{"scope": {}, "logRecords": [record]}]}
    return json.dumps({"resourceLogs": [logs]})


def _journal(each: Line) -> dict[str, object]:
    return {"__REALTIME_TIMESTAMP": f"{each.milliseconds}000", "_HOSTNAME": f"host-{each.broker}"}


# Layouts with the lines of each broker in a file of its own, and with all brokers in one file.
EXPORTS: dict[str, Written] = {
    "Datadog": lambda e: json.dumps(
        {"id": f"AQ{e.milliseconds}", "content": {"timestamp": _zulu(e), "host": _host(e), "message": e.own}}
    ),
    "Datadog's CSV": lambda e: _row(_zulu(e), _host(e), "kafka", e.own),
    "GELF": lambda e: json.dumps({"host": _host(e), "short_message": e.message, "timestamp": e.milliseconds / 1000}),
    "GELF with a short message": lambda e: json.dumps(
        {"host": _host(e), "short_message": e.message[:60], "full_message": e.message, "timestamp": e.milliseconds}
    ),
    "Graylog's CSV": lambda e: _row(_zulu(e), _host(e), e.message),
    "Vector": lambda e: json.dumps({"file": "/x", "host": _host(e), "message": e.own, "timestamp": _zulu(e)}),
    "Vector in Kubernetes": lambda e: json.dumps(
        {"kubernetes": {"pod_name": _host(e), "pod_node_name": "n7"}, "message": e.own, "timestamp": _zulu(e)}
    ),
    "RFC 5424 with data": lambda e: f'<134>1 {_zulu(e)} {_host(e)} kafka 1 - [origin x="1"] \ufeff{e.own}',
    "rsyslog": lambda e: f"{e.time:%b %d %H:%M:%S} {_host(e)} kafka[99]: {e.message}#012#011at java.lang.Thread",
    "syslog of Cisco": lambda e: f"{e.time:%b %d %Y %H:%M:%S}.101: {_host(e)}: %KAFKA-6-LOG: {e.message}",
    "logfmt": lambda e: f'ts={_zulu(e)} host={_host(e)} level=info logger={e.logger} msg="{e.message}"',
    "journald's bytes": lambda e: json.dumps(
        {"MESSAGE": list(f"\x1b[32m{e.own}\x1b[0m".encode()), **_journal(e)}, indent=None
    ),
    "journald's events": lambda e: f"data: {json.dumps({**_journal(e), 'MESSAGE': e.own})}\n",
    "Kibana's CSV": lambda e: _row(_kibana(e), _host(e), e.message),
    "Splunk's CSV": lambda e: _row(e.own, _zulu(e), _host(e), "/var/log/kafka/server.log"),
    "Azure's CSV": lambda e: _row(_american(e), _host(e), e.message),
    "Azure's containers": lambda e: json.dumps(
        {"TimeGenerated": _zulu(e), "Computer": "aks-1", "PodName": _host(e), "LogMessage": e.message}
    ),
    "Elastic's common schema": lambda e: json.dumps(
        {"@timestamp": _zulu(e), "log.level": e.level, "message": e.message, "service.name": _host(e)}
    ),
    "Filebeat": lambda e: json.dumps(
        {"@timestamp": _zulu(e), "message": e.own, "log": {"file": {"path": "/x"}}, "host": {"name": _host(e)}}
    ),
    "OpenTelemetry": _otel,
    "Heroku": lambda e: f"{_zulu(e)} app[kafka.{e.broker}]: {e.own}",
    "Jenkins": lambda e: f"[{_zulu(e)}] {_host(e)} | {e.own}",
    "GitLab": lambda e: f"{e.at.replace(' ', 'T')}456Z 01O {_host(e)}  | {e.own}",
    "Logstash's encoder": lambda e: json.dumps(
        {"@timestamp": _zulu(e), "message": e.message, "logger_name": e.logger, "HOSTNAME": _host(e)}
    ),
    "Serilog": lambda e: json.dumps({"@t": _zulu(e), "@m": e.message, "MachineName": _host(e)}),
    "Pino": lambda e: json.dumps({"level": 30, "time": e.milliseconds, "hostname": _host(e), "msg": e.message}),
    "Humio": lambda e: json.dumps({"@rawstring": e.own, "@timestamp": e.milliseconds, "#host": _host(e)}),
    "Loki's push": lambda e: json.dumps(
        {"streams": [{"stream": {"pod": _host(e)}, "values": [[_nanoseconds(e), e.own]]}]}
    ),
    "Loki's API with lines of JSON": lambda e: json.dumps(
        {
            "labels": {"pod": _host(e)},
            "line": json.dumps({"message": e.message, "logger": "state.change.logger"}),
            "timestamp": _zulu(e),
        }
    ),
    "Grafana's CSV": lambda e: _row(json.dumps({"pod": _host(e)}), e.at, e.own, _nanoseconds(e)),
    "Google's payload": lambda e: json.dumps(
        {"jsonPayload": {"message": e.message}, "timestamp": _zulu(e), "resource": {"labels": {"pod_name": _host(e)}}}
    ),
    "CloudWatch Insights": lambda e: _row(e.at, e.own, _host(e)),
    "AWS text": lambda e: f"EVENTS\t{'3' * 56}\t{e.milliseconds + 9}\t{_host(e)}\t{e.own}\t{e.milliseconds}",
    "Papertrail": lambda e: f"{e.time:%b %d %H:%M:%S} {_host(e)} kafka:  {e.own}",
    "Sumo Logic": lambda e: _row(str(e.milliseconds), _host(e), e.own),
    "kubetail": lambda e: f"[my-{_host(e)}] {e.plain}",
    "kail": lambda e: f"default/my-{_host(e)}[kafka]: {e.own}",
    "Docker's services": lambda e: f"kafka_kafka.{e.broker}.abc12x@node-{e.broker}    | {e.own}",
    "grep with context": lambda e: f"logs/{_host(e)}/server.log-17-{e.own}",
    "grep on Windows": lambda e: f"C:\\logs\\{_host(e)}\\server.log:{e.own}",
    "pdsh": lambda e: f"10.0.0.{e.broker}: {e.own}",
    "journald, indented": lambda e: json.dumps({**_journal(e), "MESSAGE": e.own}, indent=8),
    "Elastic, indented": lambda e: json.dumps(
        {"_source": {"@timestamp": _zulu(e), "message": e.message, "host": {"name": _host(e)}}}, indent=1
    ),
    "AWS, indented": lambda e: json.dumps({"logStreamName": _host(e), "message": e.own, "eventId": "3"}, indent=4),
    "Logstash's debug output": lambda e: (
        f'{{\n       "message" => {json.dumps(e.own)},\n    "@timestamp" => {_zulu(e)},\n  "host" => "{_host(e)}"\n}}'
    ),
    "Google's YAML": lambda e: f"---\nresource:\n  labels:\n    pod_name: {_host(e)}\ntextPayload: '{e.own}'",
    "systemd's export": lambda e: "".join(f"{k}={v}\n" for k, v in _journal(e).items()) + f"MESSAGE={e.message}\n",
    "identifiers in each line": lambda e: f"{_zulu(e)} req=a{e.milliseconds % 97:x}f {_host(e)} {e.own}",
    "hosts without numbers": lambda e: (
        f"{_zulu(e)} {('alpha', 'beta', 'gamma')[e.broker - 1]}.example.com kafka: {e.own}"
    ),
}
# Layouts with a file for each broker.
OWN_EXPORTS: dict[str, Written] = {
    "containerd in parts": _containerd,
    "Docker in parts": _docker,
    "journalctl -o verbose": lambda e: f"{e.time:%a} {e.at}234 UTC [s=ab]\n    _HOSTNAME=x\n    MESSAGE={e.own}",
    "YAML": lambda e: f"- ts: {_zulu(e)}\n  msg: |\n    {e.message}",
    "YAML, folded": lambda e: f"- ts: {_zulu(e)}\n  msg: >-\n{_wrapped(e, 80, '    ')}",
    "e-mail": lambda e: _wrapped(e, 80),
    "e-mail, quoted": lambda e: _wrapped(e, 72, "> "),
    "e-mail, flowed": lambda e: _wrapped(e, 72, end=" "),
    "e-mail, quoted-printable": lambda e: quopri.encodestring(e.own.encode()).decode(),
    "terminal of 80 columns": lambda e: "\n".join(e.own[i : i + 80] for i in range(0, len(e.own), 80)),
    "grep --color": lambda e: e.own.replace("Truncating", "\x1b[01;31m\x1b[KTruncating\x1b[m\x1b[K"),
    "spaces of HTML": lambda e: f"{html.escape(e.own).replace(' ', '&nbsp;')}<br>",
    "spaces of a browser": lambda e: e.own.replace(" ", "\u00a0"),
    "spaces without width": lambda e: e.own.replace("offset", "off\u200bset"),
    "Markdown, escaped": lambda e: "".join(f"\\{c}" if c in "[]_>-()" else c for c in e.own),
    "Markdown's table": lambda e: f"| {e.at} | {e.level} | {e.message} |",
    "French": lambda e: f"{e.time.day:02d} sept. {e.time:%Y %H:%M:%S},101 INFO {e.message}",
    "German": lambda e: f"{e.time.day}. September {e.time:%Y %H:%M:%S} INFO {e.message}",
    "Spanish": lambda e: f"{e.time.day} de septiembre de {e.time:%Y %H:%M:%S} INFO {e.message}",
    "microseconds since 1970": lambda e: f"{e.milliseconds}000 INFO {e.message}",
    "nanoseconds since 1970": lambda e: f"{_nanoseconds(e)} INFO {e.message}",
    "klog": lambda e: f"I{e.time:%m%d %H:%M:%S}.101234       1 kafka.go:12] {e.message}",
    "RFC 2822": lambda e: f"{e.time:%a, %d %b %Y %H:%M:%S} +0000 {e.message}",
    "XML of log4j": lambda e: (
        f'<log4j:event timestamp="{e.milliseconds}">\n<log4j:message><![CDATA[{e.message}]]></log4j:message>'
    ),
    "SQL": lambda e: f"INSERT INTO logs VALUES ('{e.at}','{e.level}','{e.message}','{e.logger}');",
    "asciinema": lambda e: json.dumps([e.milliseconds / 1000, "o", f"{e.own}\r\n"]),
}
# Twelve-hour clocks. The lines are an hour apart, from 9 in the morning, so that noon is between them.
CLOCKS: dict[str, str] = {
    "American": "%m/%d/%Y %I:%M:%S %p",
    "ISO": "%Y-%m-%d %I:%M:%S.101 %p",
    "Java": "%d-%b-%Y %I:%M:%S %p",
    "no date": "%I:%M:%S %p",
}


def _files(write: Written, lines: Iterable[Line], end: str = "\n") -> Files:
    return {f"kafka-{b}.log": "".join(write(e) + end for e in lines if e.broker == b).encode() for b in (1, 2)}


def _one_file(write: Written, lines: Iterable[Line] = ELSEWHERE, end: str = "\n") -> Files:
    return {"all.log": "".join(write(e) + end for e in lines).encode()}


def _rotated(today: str, before: str, write: Written) -> Files:
    """Return files as a rotation leaves them: the first two lines of each broker in the older file."""
    files: Files = {}
    for broker in (1, 2):
        own = [write(e) + "\n" for e in LINES if e.broker == broker]
        files |= {f"kafka-{broker}/{before}": "".join(own[:2]).encode()}
        files |= {f"kafka-{broker}/{today}": "".join(own[2:]).encode()}
    return files


def _by_logger(write: Written) -> Files:
    files: Files = {}
    for each in LINES:
        name = "state-change.log" if each.short == "logger" else "server.log"
        files[f"kafka-{each.broker}/{name}"] = (
            files.get(f"kafka-{each.broker}/{name}", b"") + f"{write(each)}\n".encode()
        )
    return files


def _an_hour_apart() -> list[Line]:
    hours = (each.time.replace(hour=9) + timedelta(hours=i) for i, each in enumerate(LINES))
    return [
        Line(e.broker, f"{at:%Y-%m-%d %H:%M:%S}.101", e.level, e.logger, e.message)
        for e, at in zip(LINES, hours, strict=True)
    ]


def _clocked(pattern: str) -> Written:
    return lambda e: f"{e.time:{pattern}} INFO {e.message}"


def _newest_first(write: Written) -> dict[str, Files]:
    return {"by broker": _files(write, LINES[::-1]), "in one file": _one_file(write, ELSEWHERE[::-1])}


def exports() -> dict[str, Files]:
    """Return the files of each layout, by the name of the layout."""
    own = _files(lambda e: e.own, LINES)
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_LZMA) as archive:
        for name, content in own.items():
            archive.writestr(name, content)
    made = {f"{name}, by broker": _files(write, LINES) for name, write in (EXPORTS | OWN_EXPORTS).items()}
    made |= {f"{name}, in one file": _one_file(write) for name, write in EXPORTS.items()}
    for name, pattern in CLOCKS.items():
        made[f"{name} clock of 12 hours"] = _files(_clocked(pattern), _an_hour_apart())
    for name in ("Kibana's CSV", "Datadog", "Loki's push", "kubetail"):
        made |= {f"{name}, newest first, {how}": files for how, files in _newest_first(EXPORTS[name]).items()}
    made["newest first"] = _files(lambda e: e.own, LINES[::-1])
    made["GELF by TCP"] = _files(EXPORTS["GELF"], LINES, end="\0")
    made["GELF by TCP, in one file"] = _one_file(EXPORTS["GELF"], end="\0")
    made["Firehose"] = _one_file(
        lambda e: json.dumps({"logStream": _host(e), "logEvents": [{"timestamp": e.milliseconds, "message": e.own}]}),
        end="",
    )
    made["rows in JSON"] = {"q.json": json.dumps([[_zulu(e), _host(e), e.message] for e in ELSEWHERE]).encode()}
    made["rotated by date, no dates within"] = _rotated("server.log", "server.log-20260904", lambda e: e.message)
    made["rotated by Kubernetes"] = _rotated(
        "0.log", "0.log.20260904-030900", lambda e: f"{_zulu(e)} stdout F {e.message}"
    )
    made["Kibana's CSV, by logger"] = _by_logger(EXPORTS["Kibana's CSV"])
    made["Serilog, by logger"] = _by_logger(EXPORTS["Serilog"])
    made["line ends of an old Mac"] = _files(lambda e: e.own, LINES, end="\r")
    made["UTF-32"] = {name: content.decode().encode("utf-32") for name, content in own.items()}
    made["zip in tar.xz"] = {"logs.zip.xz": lzma.compress(zipped.getvalue())}
    made["a gzip for each line"] = {
        f"{name}.gz": b"".join(gzip.compress(line + b"\n") for line in content.splitlines())
        for name, content in own.items()
    }
    return made
