"""Logs as tools export, split, wrap and encode them: equal findings, and none if the cluster kept all records."""

import contextlib
import json
import re
import time

import pytest

from epochfuzz.harness.audit.errors import AuditError
from tests.audit.collected import LINES, Line
from tests.audit.exported import EXPORTS, OWN_EXPORTS, exports
from tests.audit.telling import LOGS, audited, found, leads, stamped, truncates
from tests.audit.test_layouts import FINDINGS

EXPORTED = exports()
KEPT = LOGS / "operations-4.3.1"
OWN = re.compile(r"\[(\S+ \S+)\] (\w+) (.*) \((\S+)\)")
OF_WEEKS = ("klog", "French", "Spanish", "German")  # they write September, and no other month


def put(directory, files):
    for name, content in files.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return directory


@pytest.mark.parametrize("layout", EXPORTED)
def test_an_export_shows_the_loss_that_the_log_shows(tmp_path, layout):
    audit = audited(put(tmp_path, EXPORTED[layout]))

    assert found(audit) == FINDINGS
    assert audit.events == len(LINES)


@pytest.fixture(scope="module")
def kept():
    lines = []
    for broker in (1, 2, 3):
        for text in (LOGS / "operations-4.3.1" / f"broker-{broker}.log").read_text().splitlines():
            if own := OWN.fullmatch(text):
                at, level, message, logger = own.groups()
                lines.append(Line(broker, at.replace(",", "."), level, logger, message))
    return sorted(lines, key=lambda line: line.at)


@pytest.mark.thorough
@pytest.mark.parametrize("layout", [name for name in EXPORTS | OWN_EXPORTS if name not in OF_WEEKS])
@pytest.mark.parametrize("is_one_file", [False, True])
def test_an_export_of_a_cluster_that_kept_all_records_has_no_finding(tmp_path, kept, layout, is_one_file):
    if is_one_file and layout in OWN_EXPORTS:
        return
    write = (EXPORTS | OWN_EXPORTS)[layout]
    usual, exported = tmp_path / "usual", tmp_path / "exported"
    usual.mkdir()
    exported.mkdir()
    (exported / "all.log").write_text("".join(f"{write(line)}\n" for line in kept if is_one_file))
    for broker in (1, 2, 3):
        own = [line for line in kept if line.broker == broker]
        (usual / f"kafka-{broker}.log").write_text("".join(f"{line.own}\n" for line in own))
        if not is_one_file:
            (exported / f"kafka-{broker}.log").write_text("".join(f"{write(line)}\n" for line in own))
    whole, audit = audited(usual), audited(exported)

    assert found(audit) == []
    assert audit.events == whole.events
    assert [gap for gap in audit.gaps if gap not in whole.gaps] == []


TWICE = {
    "under two keys": lambda line: {"message": line, "log": line},
    "in a longer text": lambda line: {"message": line, "event": {"original": f"2026-01-02 03:00:00 INFO {line}"}},
}


@pytest.mark.parametrize("document", TWICE)
def test_a_json_document_that_contains_a_line_twice_is_one_event(tmp_path, document):
    (tmp_path / "server.log").write_text(json.dumps(TWICE[document](leads(1, 1, 9, 9))) + "\n")

    assert audited(tmp_path).events == 1


def test_audit_reads_a_json_document_with_the_logs_of_several_brokers(tmp_path):
    logs = {f"kafka-{broker}": "\n".join([leads(broker, broker, 9, 9), truncates(9)]) for broker in (1, 2)}
    (tmp_path / "logs.json").write_text(json.dumps(logs))

    assert audited(tmp_path).events == 4


def test_audit_reads_text_after_a_json_document(tmp_path):
    (tmp_path / "server.log").write_text(f"{json.dumps({'log': leads(1, 1, 9, 9)})} {leads(2, 2, 9, 9)}\n")

    assert audited(tmp_path).brokers == (1, 2)


HOSTILE = {
    "documents": lambda line: json.dumps({"log": line}) * 300,
    "texts of a document": lambda line: json.dumps({str(i): f"{i} Truncating " for i in range(3000)}),
    "ends of streams": lambda line: '{"log":"' + '","stream":"stdout"' * 3400,
    "an array that does not end": lambda line: '"MESSAGE":[' + "1," * 32_000,
    "names": lambda line: "a.-" * 20_000 + line,
    "brackets": lambda line: '["' * 32_000,
}


@pytest.mark.parametrize("line", HOSTILE)
def test_a_hostile_line_of_64_kb_takes_at_most_half_a_second(tmp_path, line):
    (tmp_path / "server.log").write_text(f"{leads(1, 1, 9, 9)}\n{HOSTILE[line](leads(1, 1, 9, 9))[:65_000]}\n")
    began = time.process_time()
    audited(tmp_path)

    assert time.process_time() - began < 0.5


def test_an_audit_of_500_short_hostile_lines_takes_at_most_a_second(tmp_path):
    line = "a.-" * 60
    (tmp_path / "server.log").write_text(f"Truncating t-0 to offset 5\n{line}\n" * 500)
    began = time.process_time()
    with contextlib.suppress(AuditError):
        audited(tmp_path)

    assert time.process_time() - began < 1


def test_another_encoding_at_the_end_of_a_utf_16_file_is_a_gap(tmp_path):
    lines = stamped([leads(1, 1, 9, 9)] * 5)
    (tmp_path / "server.log").write_bytes(lines.encode("utf-16") + lines.encode())
    audit = audited(tmp_path)

    assert audit.events == 5
    assert any("another encoding than UTF-16 begins within it" in gap for gap in audit.gaps)


def test_audit_reads_utf_16_lines_after_utf_8_lines_in_a_file(tmp_path):
    lines = stamped([leads(1, 1, 9, 9)] * 40)
    (tmp_path / "server.log").write_bytes(lines.encode() + lines.encode("utf-16-le"))

    assert audited(tmp_path).events == 80


@pytest.mark.parametrize("text", ["no line of a broker", "W0Jyb2tlciBpZD0xXQ=="])
def test_audit_rejects_an_email_without_a_line_of_a_broker(tmp_path, text):
    (tmp_path / "mail.eml").write_text(f"{text}\n")

    with pytest.raises(AuditError, match="found no line of a Kafka broker in 1 file"):
        audited(tmp_path)
