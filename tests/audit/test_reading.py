"""Reading log files: layouts, rotated and compressed files, the broker of a line, and unreadable files."""

import gzip
import json
import os
import re

import pytest

from epochfuzz.harness.audit import one_process
from epochfuzz.harness.audit.attribution import attributed
from epochfuzz.harness.audit.audit import AuditRequest
from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.audit.lines import reading
from epochfuzz.harness.audit.lines.facts import merged
from epochfuzz.harness.audit.lines.layouts import frames
from epochfuzz.harness.audit.lines.reading import Part, read
from tests.audit.telling import LOGS, audited, follows, found, leads, stamped, truncates, written

MESSAGE = leads(1, 3, 10, 7, before=(2, 2)).removesuffix(" (state.change.logger)")
LAYOUTS = {
    "Kafka's own": f"[2026-01-02 03:04:05,678] INFO {MESSAGE} (state.change.logger)",
    "ISO": f"[2026-01-02T03:04:05.678Z] INFO {MESSAGE} (state.change.logger)",
    "Strimzi's": f"2026-01-02 03:04:05,678 INFO {MESSAGE} (state.change.logger) [thread-1]",
    "of a container": f"kafka-1  | [2026-01-02 03:04:05,678] INFO {MESSAGE} (state.change.logger)",
    "of a pod": f"2026-01-02T03:04:05.7Z stdout F [2026-01-02 03:04:05,678] INFO {MESSAGE} (state.change.logger)",
    "JSON by log4j 1": json.dumps({"@timestamp": "2026-01-02T03:04:05.678Z", "level": "INFO", "message": MESSAGE}),
    "JSON by log4j 2": json.dumps(
        {"instant": {"epochSecond": 1767323045, "nanoOfSecond": 678000000}, "level": "INFO", "message": MESSAGE}
    ),
}


def events_of(directory, text, layouts=()):
    file = directory / "server.log"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_whole(Part(file=str(file)), layouts)


def read_whole(part, layouts=()):
    *events, facts = read(part, frames(layouts))
    return events, facts


@pytest.mark.parametrize("layout", LAYOUTS)
def test_audit_reads_the_broker_offset_and_time_of_a_line_in_each_usual_layout(tmp_path, layout):
    (event,), facts = events_of(tmp_path, LAYOUTS[layout] + "\n")

    assert (event.broker, event.topic, event.leader_epoch, event.offset, event.high_watermark) == (1, "t", 3, 10, 7)
    assert (event.time, facts.unread) == (1767323045678, 0)


def test_a_given_layout_selects_the_timestamp_among_several_in_a_line(tmp_path):
    line = f"2030-01-01 00:00:00,000 is nothing, 2026-01-02 03:04:05,678 {MESSAGE} 2031-01-01 00:00:00,000\n"
    (event,), _ = events_of(tmp_path, line, ["%x nothing, %d{ISO8601} %m %x %x"])

    assert event.time == 1767323045678


OWN_DATES = {
    "%p;%d{yyyy.DDD HH'h'mm'm'ss's'SSS};%m": f"I;2026.002 03h04m05s678;{MESSAGE}",
    "%d{dd-MMM-yy hh.mm.ss.SSS a}{UTC} %m": f"02-Jan-26 03.04.05.678 AM {MESSAGE}",
    "%d{yyyyMMdd''HHmmssSSS}|%m": f"20260102'030405678|{MESSAGE}",
    "%m %date{EEE d/M/yyyy H-m-s.SSS}": f"{MESSAGE} Fri 2/1/2026 3-4-5.678",
    "%d{yyyy/MM/dd_HH.mm.ss.SSSZ} %m": f"2026/01/02_05.04.05.678+0200 {MESSAGE}",
    "%d{UNIX_MILLIS} %m": f"1767323045678 {MESSAGE}",
}


@pytest.mark.parametrize("layout", OWN_DATES)
def test_a_given_layout_may_contain_a_date_pattern_in_javas_notation(tmp_path, layout):
    (event,), facts = events_of(tmp_path, OWN_DATES[layout] + "\n", [layout])

    assert (event.broker, event.offset, event.time) == (1, 10, 1767323045678)
    assert facts.framed == 1


@pytest.fixture
def in_an_own_layout(tmp_path):
    """A file as docker compose prints it, with lines such as `kafka-1  | I;12:00:15.326;message`."""
    own = re.compile(r"\[\S+ (\S+),(\d{3})\] (\w)\w+ (.*) \(\S+\)")
    lines = [
        own.sub(rf"kafka-{file.stem[-1]}  | \3;\1.\2;\4", line) + "\n"
        for file in sorted((LOGS / "unclean-3.9.2").glob("broker-*.log"))
        for line in file.read_text().splitlines()
    ]
    (tmp_path / "all.log").write_text("".join(lines))
    return tmp_path


@pytest.mark.parametrize("layouts", [[], ["%p;%d;%m"], ["%x;%d;%m"]])
def test_audit_uses_the_container_name_before_a_line_with_and_without_a_given_layout(in_an_own_layout, layouts):
    audit = audited(in_an_own_layout, layouts=layouts)

    assert ("committed-loss", "lossy-0", 550, 1706) in found(audit)
    assert not any("does not name the broker" in gap for gap in audit.gaps)
    assert not audit.notes or "KAFKA-19776" in audit.notes[0]


def test_audit_notes_a_given_layout_that_matches_no_line(in_an_own_layout):
    audit = audited(in_an_own_layout, layouts=["%d{yyyy-DDD} %m"])

    assert audit.notes[0].startswith("--layout ('%d{yyyy-DDD} %m') matches no line about a partition")
    assert found(audit) == found(audited(in_an_own_layout))


def test_audit_reads_no_event_from_a_truncated_line(tmp_path):
    whole = LAYOUTS["Kafka's own"]
    for end in range(len(whole) - len(" (state.change.logger)")):
        events, _ = events_of(tmp_path, whole[:end])
        assert events == [], whole[:end]


def test_audit_lists_a_line_that_may_end_within_a_number_as_a_gap(tmp_path):
    lines = stamped([leads(1, 1, 59, 0, before=(1, 0)), follows(1, 2, 2, 59, 57, before=1)])
    (tmp_path / "server.log").write_text(
        lines + "[2026-01-02 03:05:00,000] INFO [Log partition=t-0, dir=/d] Truncating to offset 5"
    )
    audit = audited(tmp_path)

    assert audit.findings == []
    assert any("1 line may have been cut within a number" in gap for gap in audit.gaps)


def test_audit_reads_no_event_from_a_line_of_another_program_that_quotes_a_broker(tmp_path):
    assert events_of(tmp_path, f"[2026-01-02 03:04:05,678] INFO grep found: {MESSAGE} (my.App)\n")[0] == []


def test_audit_reads_compressed_and_rotated_files(tmp_path):
    lines = stamped([leads(1, 1, 9, 9, before=(1, 0))])
    (tmp_path / "broker-1").mkdir()
    with gzip.open(tmp_path / "broker-1" / "server.log.2026-01-02.gz", "wt") as packed:
        packed.write(lines)
    (tmp_path / "broker-2").mkdir()
    (tmp_path / "broker-2" / "server.log.1").write_text(stamped([follows(2, 1, 1, 9, 5, before=0)]))
    (tmp_path / "broker-2" / "server.log").write_text(stamped([leads(2, 2, 5, 5, before=(1, 1))], 60))

    assert found(audited(tmp_path)) == [("committed-loss", "t-0", 5, 8)]


@pytest.mark.parametrize("around", ["", "kafka-1  | ", "2026-01-02T03:00:00.500000Z stdout F "])
def test_audit_counts_a_line_once_if_two_files_contain_the_line(tmp_path, around):
    written(tmp_path, {1: [leads(1, 1, 9, 9, before=(1, 0))], 2: [leads(2, 2, 5, 5, before=(1, 1))]})
    once = audited(tmp_path)
    rows = [event.text for event in once.findings[0].around]
    for broker in (1, 2):
        own = tmp_path / f"broker-{broker}"
        lines = (own / "server.log").read_text().splitlines(keepends=True)
        (own / "stdout.log").write_text("".join(f"{around}{line}" for line in lines))

    twice = audited(tmp_path)
    assert found(twice) == found(once)
    assert [event.text for event in twice.findings[0].around] == rows


@pytest.mark.parametrize("size", [1, 100, 1000, 7001])
def test_reading_a_file_in_parts_returns_the_events_of_the_whole_file(tmp_path, monkeypatch, size):
    monkeypatch.setattr(reading, "_CHUNK", 333)
    file = str(LOGS / "re-elected-leader-4.3.1" / "broker-1.log")
    whole, facts = read_whole(Part(file=file))
    starts = range(0, os.path.getsize(file), size)[:: 1 if size > 50 else 97]
    ends = [*starts[1:], None]
    parts = [
        read_whole(Part(file=file, number=i, start=at[0], end=at[1]))
        for i, at in enumerate(zip(starts, ends, strict=True))
    ]

    before, events = 0, []
    for own, of_part in parts:
        events += [(event.line + before, event.text) for event in own]
        before += of_part.lines
    assert events == [(event.line, event.text) for event in whole]
    assert merged(of_part for _, of_part in parts) == facts


@pytest.mark.parametrize("size", [1, 100, 1000])
def test_a_clock_that_goes_back_between_two_parts_of_a_file_is_counted(tmp_path, size):
    log = tmp_path / "server.log"
    lines = stamped([truncates(number) for number in range(1, 9)]).splitlines(keepends=True)
    log.write_text("".join([*lines[4:6], *lines[:2], *lines[6:], *lines[2:4]] * 2))
    _, facts = read_whole(Part(file=str(log)))
    assert (facts.backs, facts.back) == (4, 3)

    starts = range(0, os.path.getsize(log), size)
    parts = [
        read_whole(Part(file=str(log), number=i, start=start, end=end))[1]
        for i, (start, end) in enumerate(zip(starts, [*starts[1:], None], strict=True))
    ]
    assert merged(parts) == facts


def test_a_part_that_starts_at_the_start_of_a_line_contains_this_line(tmp_path):
    text = stamped([truncates(1), truncates(2), truncates(3)])
    second = text.index("\n") + 1
    (tmp_path / "server.log").write_text(text)
    file = str(tmp_path / "server.log")
    parts = [Part(file=file, number=i, start=at[0], end=at[1]) for i, at in enumerate(((0, second), (second, None)))]

    assert [[event.offset for event in read_whole(part)[0]] for part in parts] == [[1], [2, 3]]


def test_a_line_without_its_broker_is_a_gap_in_a_file_of_several_brokers(tmp_path):
    lines = [leads(1, 1, 9, 9, before=(1, 0)), leads(2, 2, 9, 9, before=(1, 1)), truncates(5)]
    (tmp_path / "compose.log").write_text(stamped(lines))
    audit = audited(tmp_path)

    assert audit.brokers == (1, 2)
    assert any("1 line of partitions does not name the broker" in gap for gap in audit.gaps)


def test_a_line_without_its_broker_belongs_to_the_broker_of_other_lines_in_its_directory(tmp_path):
    written(tmp_path, {1: [leads(1, 1, 9, 9, before=(1, 0)), truncates(5)], 2: []})
    (tmp_path / "broker-1" / "log.log").write_text(stamped([truncates(3)]))
    (tmp_path / "broker-2" / "log.log").write_text(stamped([truncates(3)]))
    request = AuditRequest.of([str(tmp_path)])
    facts = [read_whole(part)[1] for part in request.whole()]

    assert {file.split("/")[-2]: broker for file, broker in attributed(request, facts).brokers.items()} == {
        "broker-1": 1
    }
    assert any("does not name the broker" in gap for gap in audited(tmp_path).gaps)


def test_the_option_broker_finds_the_broker_number_in_a_path(tmp_path):
    (tmp_path / "kafka-7").mkdir()
    (tmp_path / "kafka-7" / "server.log").write_text(stamped([truncates(3)]))

    assert audited(tmp_path, broker="kafka-([0-9]+)").brokers == (7,)
    with pytest.raises(AuditError, match="finds no broker number, neither in the path of a file nor before a line"):
        audited(tmp_path, broker="node-([0-9]+)")


def test_audit_rejects_logs_of_two_clusters(tmp_path):
    for cluster in "ab":
        (tmp_path / cluster).write_text(stamped([f"Cluster ID = {cluster * 22} (kafka.server.KafkaServer)"]))

    with pytest.raises(AuditError, match="the logs come from 2 clusters"):
        audited(tmp_path)


def test_audit_lists_unreadable_files_as_gaps_and_reads_the_other_files(tmp_path):
    written(tmp_path, {1: [leads(1, 1, 9, 9, before=(1, 0))], 2: [leads(2, 2, 5, 5, before=(1, 1))]})
    packed = gzip.compress(stamped([leads(3, 3, 9, 9, before=(2, 2))] * 5000).encode())
    (tmp_path / "cut.log.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "00000000000000000000.log").write_bytes(bytes(100))
    (tmp_path / "picture.log").write_bytes(bytes(range(256)) * 9)
    audit = audited(tmp_path)

    assert found(audit) == [("committed-loss", "t-0", 5, 8)]
    for said in ("cut.log.gz could not be read to its end", "000.log is not text", "picture.log is not text"):
        assert any(said in gap for gap in audit.gaps), said


def test_audit_skips_the_whole_lines_of_a_file_with_many_truncated_lines(tmp_path):
    written(tmp_path, {1: [leads(1, 1, 9, 9, before=(1, 0))], 2: [leads(2, 2, 5, 5, before=(1, 1))]})
    assert found(audited(tmp_path)) == [("committed-loss", "t-0", 5, 8)]
    with (tmp_path / "broker-2" / "server.log").open("a") as file:
        file.write("[2026-01-02 03:04:05,678] INFO Log for partition t-0 is renamed to /d/x and is sched\n")
    audit = audited(tmp_path)

    assert audit.findings == []
    assert any("the 1 others were left out" in gap for gap in audit.gaps)


def test_audit_skips_a_file_whose_lines_are_not_in_order(tmp_path):
    written(tmp_path, {1: [leads(1, 1, 9, 9, before=(1, 0))], 2: []})
    backwards = [stamped([leads(2, 2, 5, 5, before=(1, 1))], second) for second in (30, 10, 20, 0, 25, 5)]
    (tmp_path / "broker-2" / "server.log").write_text("".join(backwards))
    audit = audited(tmp_path)

    assert audit.findings == []
    assert any("the lines are not in order" in gap for gap in audit.gaps)


def test_reading_a_deleted_file_reports_the_error_of_the_file_system(tmp_path):
    written(tmp_path, {1: [leads(1, 1, 9, 9, before=(1, 0))]})
    _, facts = read_whole(Part(file=str(tmp_path / "gone.log")))

    assert facts.problem == "could not be read to its end: No such file or directory"


def test_audit_stops_with_an_error_if_no_file_can_be_read(tmp_path):
    request = AuditRequest.of([str(written(tmp_path, {1: [leads(1, 1, 9, 9)], 2: [leads(2, 1, 9, 9)]}))])
    for broker in (1, 2):
        (tmp_path / f"broker-{broker}" / "server.log").unlink()

    with pytest.raises(AuditError, match=r"audit read no line of 2 files: .*server\.log could not be read to its end"):
        one_process.run(request, lambda text: None)


def test_audit_reads_the_line_after_a_line_that_is_longer_than_a_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_CHUNK", 1000)
    endless = b"x" * 100_000 + b"\n" + (LAYOUTS["ISO"] + "\n").encode()
    events, facts = events_of(tmp_path, endless)

    assert [event.line for event in events] == [2]
    assert facts.lines == 2
