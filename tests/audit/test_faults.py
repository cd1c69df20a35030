"""Damaged, hostile or odd input: audit names the problem, reads the rest, and gives no all-clear."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import pytest

from epochfuzz.harness.audit.audit import AuditRequest, AuditVerdict
from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.audit.lines.sources import found as sources_of
from epochfuzz.harness.audit.unpacking import unpacking
from tests.audit.telling import LOGS, audited, deletes, found, leads, stamped, written

LOSS = {1: [leads(1, 1, 9, 9, before=(1, 0))], 2: [leads(2, 2, 5, 5, before=(1, 1))]}
LOST = [("committed-loss", "t-0", 5, 8)]
KEPT = LOGS / "operations-4.3.1"


@pytest.fixture
def kept(tmp_path):
    for file in KEPT.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert audited(tmp_path).verdict == AuditVerdict.NOTHING
    return tmp_path


def inconclusive(directory, *said):
    audit = audited(directory)
    assert audit.verdict == AuditVerdict.INCONCLUSIVE, audit.gaps
    for words in said:
        assert any(words in gap for gap in audit.gaps), audit.gaps
    return audit


# Input that cannot be read


@pytest.fixture
def without_privileges():
    """Run a test as a user that is not root, because root may read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("mode", [0o000, 0o400])
def test_a_directory_without_the_permission_to_read_or_enter_is_a_gap(without_privileges, mode):
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for file in KEPT.iterdir():
            (directory / file.name).write_bytes(file.read_bytes())
        (directory / "more").mkdir()
        (directory / "more" / "server.log").write_text("x")
        (directory / "more").chmod(mode)
        try:
            inconclusive(directory, "Permission denied")
        finally:
            (directory / "more").chmod(0o700)


def test_an_error_of_the_file_system_is_a_gap(kept, monkeypatch):
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("more"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    (kept / "more").mkdir()
    monkeypatch.setattr(os, "scandir", refuse)

    inconclusive(kept, "more cannot be read: Permission denied")


def test_a_directory_behind_a_link_is_read_once_and_a_dangling_link_is_a_gap(tmp_path):
    logs = written(tmp_path / "real", LOSS)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "behind").symlink_to(logs)
    (logs / "back").symlink_to(tmp_path / "logs")
    (tmp_path / "logs" / "nothing.log").symlink_to(tmp_path / "gone")
    audit = audited(tmp_path / "logs")

    assert found(audit) == LOST
    assert audit.lines == 2
    assert any("nothing.log is a link to nothing" in gap for gap in audit.gaps)


@pytest.mark.parametrize("path", ["missing", "link", "x" * 5000, "a/" * 3000])
def test_a_path_that_cannot_be_opened_raises_an_audit_error(tmp_path, path):
    (tmp_path / "link").symlink_to(tmp_path / "gone")

    with pytest.raises(AuditError, match=r"no such file|a link to nothing|File name too long"):
        AuditRequest.of([str(tmp_path / path)])


def test_an_empty_file_of_a_broker_is_a_gap(kept):
    (kept / "server.log").write_text("")

    inconclusive(kept, "server.log is empty")


def test_audit_rejects_an_empty_file_as_the_only_input(tmp_path):
    (tmp_path / "a.log").write_text("")

    with pytest.raises(AuditError, match=r"audit read no line of 1 file: .*a\.log is empty"):
        audited(tmp_path / "a.log")


def test_audit_reads_a_named_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    lines = "".join(stamped(own) for own in LOSS.values())
    writer = threading.Thread(target=lambda: pipe.write_text(lines))
    writer.start()

    assert found(audited(pipe)) == LOST
    writer.join()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/fd")
def test_audit_reads_a_pipe_of_the_shell():
    read, write = os.pipe()
    os.write(write, "".join(stamped(own) for own in LOSS.values()).encode())
    os.close(write)
    try:
        assert found(audited(Path(f"/dev/fd/{read}"))) == LOST
    finally:
        os.close(read)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/stdin")
def test_audit_reads_standard_input():
    ended = subprocess.run(
        [sys.executable, "-m", "epochfuzz", "audit", "/dev/stdin", "--json"],
        input="".join(stamped(own) for own in LOSS.values()),
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 1, ended.stderr
    assert [finding["kind"] for finding in json.loads(ended.stdout)["findings"]] == ["committed-loss"]


def test_audit_stops_with_an_error_at_a_pipe_without_a_writer(tmp_path, monkeypatch):
    monkeypatch.setattr("epochfuzz.harness.audit.lines.sources._PATIENCE", 0.1)
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(AuditError, match="a pipe that nothing writes to"):
        audited(tmp_path / "pipe")


def test_a_pipe_in_a_directory_is_a_gap(kept):
    os.mkfifo(kept / "pipe")

    inconclusive(kept, "pipe cannot be read: it is a pipe")


def test_audit_reads_lines_after_and_around_nul_bytes(tmp_path):
    text = stamped(LOSS[1]).encode()
    written(tmp_path, LOSS)
    (tmp_path / "broker-1" / "server.log").write_bytes(bytes(20_000) + text)
    (tmp_path / "broker-2" / "server.log").write_bytes(stamped(LOSS[2]).encode().replace(b"Leader", b"Lea\0der"))
    audit = audited(tmp_path)

    assert found(audit) == LOST


def test_undecodable_bytes_are_a_gap_only_in_a_line_about_a_partition(kept):
    with (kept / "broker-1.log").open("ab") as file:
        file.write(b"[2026-11-23 12:00:00,000] INFO caf\xe9 (kafka.network.SocketServer)\n")
    assert audited(kept).verdict == AuditVerdict.NOTHING
    with (kept / "broker-1.log").open("ab") as file:
        file.write(b"[2026-11-23 12:00:00,000] INFO L\xe9ader t-0 st\xe4rts (state.change.logger)\n")

    inconclusive(kept, "the line has bytes that are not UTF-8")


# Packed files


def packed_in_many_ways():
    text = stamped(LOSS[1]).encode() + b"x" * 10 + b"\n"
    tar, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        info = tarfile.TarInfo("server.log")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text))
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("server.log", text)
    return {
        "gzip": gzip.compress(text),
        "gzip of gzip": gzip.compress(gzip.compress(text)),
        "two gzips": gzip.compress(text[:50]) + gzip.compress(text[50:]),
        "gzip and zeros": gzip.compress(text) + bytes(100),
        "xz": lzma.compress(text),
        "bz2": bz2.compress(text),
        "tar": tar.getvalue(),
        "zip": zipped.getvalue(),
        "gzip of zip": gzip.compress(zipped.getvalue()),
        "gzip of tar of that": gzip.compress(tar.getvalue()),
    }


@pytest.mark.parametrize("packing", packed_in_many_ways())
def test_audit_finds_a_loss_in_a_compressed_file_or_archive(tmp_path, packing):
    written(tmp_path, {2: LOSS[2]})
    (tmp_path / "packed").write_bytes(packed_in_many_ways()[packing])
    audit = audited(tmp_path)

    assert found(audit) == LOST
    assert not any("packed" in gap for gap in audit.gaps)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda packed: packed[:-20], "its end is missing"),
        (lambda packed: packed[:-8] + b"\0" * 8, "its checksum is wrong"),
        (lambda packed: packed + b"trailing bytes", "other bytes follow its end"),
        (
            lambda packed: packed[: len(packed) // 2] + b"\xff" * 50 + packed[len(packed) // 2 + 50 :],
            "could not be read",
        ),
    ],
)
def test_audit_reads_a_damaged_gzip_file_up_to_the_damage(tmp_path, damage, said):
    written(tmp_path, {2: LOSS[2]})
    filler = "".join(f"[2026-01-02 04:00:00,000] INFO {os.urandom(40).hex()} (x.Y)\n" for _ in range(2000))
    (tmp_path / "server.log.gz").write_bytes(damage(gzip.compress((stamped(LOSS[1]) + filler).encode())))
    audit = audited(tmp_path)

    assert found(audit) == LOST
    assert any("server.log.gz could not be read to its end" in gap and said in gap for gap in audit.gaps), audit.gaps


def test_audit_reads_the_last_line_of_a_gzip_file_with_a_wrong_checksum(tmp_path):
    written(tmp_path, {2: LOSS[2]})
    filler = "[2026-01-02 03:00:00,000] INFO x (x.Y)\n" * 10
    packed = gzip.compress((filler + stamped(LOSS[1])).encode())
    (tmp_path / "server.log.gz").write_bytes(packed[:-8] + bytes(8))

    assert found(audited(tmp_path)) == LOST


@pytest.mark.parametrize("nested", [False, True])
def test_audit_stops_unpacking_a_decompression_bomb_within_seconds(kept, monkeypatch, nested):
    monkeypatch.setattr(unpacking, "_HARMLESS", 1 << 20)
    bomb = gzip.compress(bytes(1 << 26))
    if nested:
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            archive.writestr("server.log.gz", bomb)
        bomb = content.getvalue()
    (kept / "bomb").write_bytes(bomb)
    began = time.monotonic()

    inconclusive(kept, "so audit left out the rest; unpack it first")
    assert time.monotonic() - began < 10


def test_a_file_with_too_many_layers_of_compression_or_an_unknown_format_is_a_gap(kept):
    text = b"text"
    for _ in range(8):
        text = gzip.compress(text)
    (kept / "often.gz").write_bytes(text)
    (kept / "x.7z").write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(99))

    inconclusive(kept, "often.gz is packed more than", "x.7z is packed by 7z, which audit cannot unpack")


def test_the_size_of_an_audit_request_counts_unpacked_bytes(tmp_path):
    (tmp_path / "server.log.gz").write_bytes(gzip.compress(b"x" * 1_000_000 + os.urandom(10_000)))

    assert AuditRequest.of([str(tmp_path)]).size > 10 * (tmp_path / "server.log.gz").stat().st_size


def in_zstd(*texts):
    zstandard = pytest.importorskip("zstandard")
    return b"".join(zstandard.ZstdCompressor().compress(text) for text in texts)


def test_audit_reads_a_zstd_file_of_two_frames(tmp_path):
    written(tmp_path, {2: LOSS[2]})
    text = stamped(LOSS[1]).encode()
    (tmp_path / "server.log.zst").write_bytes(in_zstd(text[:50], text[50:]))

    assert found(audited(tmp_path)) == LOST


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda packed: packed[:-20], id="truncated"),
        pytest.param(lambda packed: packed[:4] + bytes(50) + packed[54:], id="other bytes"),
    ],
)
def test_a_damaged_zstd_file_is_a_gap(kept, damage):
    (kept / "server.log.zst").write_bytes(damage(in_zstd(os.urandom(1000).hex().encode())))

    inconclusive(kept, "server.log.zst could not be read to its end")


@pytest.fixture
def no_zstd(monkeypatch):
    for name in ("compression", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)


ZSTD = (
    "server.log.zst is packed by zstd, which needs Python 3.14 or the package zstandard; run `pip install zstandard`,"
    " or unpack the file first"
)
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def test_a_zstd_file_is_a_gap_with_an_install_hint_if_python_has_no_zstd(kept, no_zstd):
    (kept / "server.log.zst").write_bytes(ZSTD_MAGIC + bytes(50))

    inconclusive(kept, ZSTD)


def test_audit_rejects_a_zstd_file_as_the_only_input_if_python_has_no_zstd(tmp_path, no_zstd):
    (tmp_path / "server.log.zst").write_bytes(ZSTD_MAGIC + bytes(50))

    with pytest.raises(AuditError, match="audit read no line of 1 file") as refused:
        audited(tmp_path)
    assert ZSTD in str(refused.value)


# Values and texts


HOSTILE = {
    "a number of 5,000 digits": leads(1, 1, 9, 9).replace("offset 9", f"offset {'9' * 5000}"),
    "an offset of 2^63": leads(1, 1, 9, 9).replace("offset 9", f"offset {1 << 63}"),
    "a partition of 2^31": leads(1, 1, 9, 9, partition=f"t-{1 << 31}"),
    "a broker of 2^40": leads(1 << 40, 1, 9, 9),
    "an epoch of 2^31": leads(1, 1 << 31, 9, 9),
    "a member of the ISR of 2^31": leads(1, 1, 9, 9, isr=f"1,{1 << 31}"),
}


@pytest.mark.parametrize("line", HOSTILE)
def test_a_line_with_a_number_outside_kafkas_range_is_a_gap(kept, line):
    with (kept / "broker-1.log").open("a") as file:
        file.write(stamped([HOSTILE[line]]))

    inconclusive(kept, "a broker's words about a partition, and audit could not read them")


@pytest.mark.parametrize("said", ["NaN", "Infinity", "1e400", "1e30", "-1", "9" * 5000, "true", "[]", '"0000-99-99"'])
def test_audit_ignores_an_invalid_timestamp_in_json(tmp_path, said):
    for broker, (message,) in LOSS.items():
        line = json.dumps({"message": message.removesuffix(" (state.change.logger)")})
        (tmp_path / f"kafka-{broker}.log").write_text(line.replace("}", f', "timestamp": {said}}}') + "\n")

    assert found(audited(tmp_path)) == LOST


@pytest.mark.parametrize("time", ["0000-01-01 00:00:00,000", "9999-12-31 23:59:59,999", "2026-02-31 03:00:00,000"])
def test_audit_ignores_a_date_that_does_not_exist_or_is_out_of_range(tmp_path, time):
    for broker, (message,) in LOSS.items():
        (tmp_path / f"kafka-{broker}.log").write_text(f"[{time}] INFO {message}\n")

    assert found(audited(tmp_path)) == LOST


def test_audit_reads_a_file_whose_name_is_not_utf_8_and_escapes_the_name(tmp_path):
    written(tmp_path, {2: LOSS[2]})
    name = os.fsencode(tmp_path) + b"/caf\xe9\x1b.log"
    with open(name, "wb") as file:
        file.write(stamped(LOSS[1]).encode())
    audit = audited(tmp_path)

    assert found(audit) == LOST
    assert audit.findings[0].evidence[0].file.endswith("caf\\xe9\\x1b.log")
    assert json.dumps(audit.plain())


@pytest.mark.parametrize(
    ("pattern", "said"), [("%d %m %m", "has %m 2 times"), ("%p", "has no %d"), ("%d %d %m", "has %d 2 times")]
)
def test_an_unusable_layout_raises_an_audit_error(pattern, said):
    with pytest.raises(AuditError, match=said):
        AuditRequest.of([str(KEPT)], [pattern])


def test_audit_reads_each_message_of_a_json_array_in_a_long_line(tmp_path):
    events = [{"message": message, "pad": "x" * 3000} for own in LOSS.values() for message in own]
    filler = [{"message": "nothing", "pad": "y" * 3000}] * 400
    (tmp_path / "events.json").write_text(json.dumps([events[0], *filler, events[1]]))
    audit = audited(tmp_path)

    assert found(audit) == LOST
    assert audit.lines == 1


# Lines that do not decide


def zookeeper(broker, epoch, offset, high_watermark, isr="1,2", before=-1):
    return (
        f"[Broker id={broker}] Leader t-0 starts at leader epoch {epoch} from offset {offset} with high watermark"
        f" {high_watermark} ISR [{isr}] addingReplicas [] removingReplicas []. Previous leader epoch was {before}."
        " (state.change.logger)"
    )


def undecided(directory, lines):
    audit = audited(written(directory, lines))
    assert audit.findings == []
    assert audit.verdict == AuditVerdict.INCONCLUSIVE
    return audit


def test_a_recreated_topic_of_kafka_2_7_shows_no_loss_if_no_line_shows_its_deletion(tmp_path):
    first = [zookeeper(1, 0, 0, 0), zookeeper(1, 1, 500, 500, before=0)]
    again = [zookeeper(1, 0, 0, 0), zookeeper(1, 2, 100, 100, before=0)]

    undecided(tmp_path, {1: first + again, 2: []})


def test_a_broker_that_leads_epoch_0_from_offset_0_twice_shows_no_loss(tmp_path):
    shrinks = (
        "[Partition t-0 broker=1] Shrinking ISR from 1,2 to 1. Leader: (highWatermark: 500, endOffset: 500). Out of"
        " sync replicas: (brokerId: 2, endOffset: 400). (kafka.cluster.Partition)"
    )
    lines = [zookeeper(1, 0, 0, 0), shrinks, zookeeper(1, 0, 0, 0), zookeeper(1, 1, 100, 100, before=0)]
    audit = undecided(tmp_path, {1: lines})

    assert any("t-0: committed-loss of offsets 100 to 499 in epoch 1, or a topic that was" in gap for gap in audit.gaps)


def test_two_clusters_of_kafka_2_7_with_equal_topic_names_show_no_loss(tmp_path):
    undecided(
        tmp_path,
        {
            1: [zookeeper(1, 0, 0, 0, "1,2"), zookeeper(1, 1, 900, 900, "1,2", 0)],
            4: [zookeeper(4, 0, 0, 0, "4,5"), zookeeper(4, 2, 50, 50, "4,5", 0)],
        },
    )


def test_lines_of_an_earlier_topic_with_an_equal_name_show_no_loss(tmp_path):
    own = written(tmp_path, {1: [zookeeper(1, 0, 0, 0), zookeeper(1, 12, 100, 100, before=0)]})
    (own / "broker-2").mkdir()
    old = stamped([zookeeper(2, 9, 900, 900, before=8)]).replace("2026-01-02", "2025-06-07")
    (own / "broker-2" / "server.log").write_text(old)
    audit = audited(own)

    assert audit.findings == []
    assert audit.verdict == AuditVerdict.INCONCLUSIVE


def test_a_recreated_log_without_topic_ids_is_a_gap_and_no_loss(tmp_path):
    made = "Created log for partition t-0 in /new/t-0 with properties {} (kafka.log.LogManager)"
    lines = [zookeeper(1, 0, 0, 0), zookeeper(1, 1, 500, 500, before=0), made, zookeeper(1, 3, 0, 0)]
    audit = undecided(tmp_path, {1: lines})

    assert any("t-0: committed-loss of offsets 0 to 499 in epoch 3, or a topic that was" in gap for gap in audit.gaps)


def test_a_recreated_log_with_topic_ids_is_a_loss_despite_the_lines_of_a_follower(tmp_path):
    made = "Created log for partition t-0 in /new/t-0 with properties {} (kafka.log.LogManager)"
    follows = (
        "[Broker id=2] Follower t-0 starts at leader epoch 0 from offset 0 with high watermark 0. Previous leader epoch"
        " was -1. (state.change.logger)"
    )
    lines = {1: [leads(1, 0, 0), leads(1, 1, 500, 500, before=(1, 0)), made, leads(1, 3, 0)], 2: [follows, deletes()]}

    assert found(audited(written(tmp_path, lines))) == [("committed-loss", "t-0", 0, 499)]


def test_audit_does_not_read_a_device():
    if sys.platform != "linux":
        pytest.skip("/dev/zero")
    (source,) = sources_of(["/dev/zero"])

    assert source.problem == "cannot be read: it is a device or a socket, and not a file"
