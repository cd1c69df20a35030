"""The files of a data directory, byte by byte: audit reads valid parts, and names the problem of other parts."""

import os
import struct
from pathlib import Path

import pytest

from epochfuzz.harness.audit.disks.checkpoints import EpochEntry, directory_of, epochs_of, topic_id_of
from epochfuzz.harness.audit.disks.files import Unreadable
from epochfuzz.harness.audit.disks.found import disks_among, is_data_directory
from epochfuzz.harness.audit.disks.segments import segment_of
from epochfuzz.harness.cluster.record_format.batches import HEADER, crc32c


def batch(
    base: int,
    epoch: int,
    records: int = 1,
    payload: int = 10,
    magic: int = 2,
    numbered: tuple[int, int, int] = (-1, -1, -1),
) -> bytes:
    """A batch whose records are zeros. `numbered`: the producer's id and epoch, and the first sequence number."""
    length = HEADER.size - 12 + payload
    return HEADER.pack(base, length, epoch, magic, 7, 0, records - 1, 0, 1000, *numbered, records) + bytes(payload)


def segment(directory: Path, *batches: bytes, base: int = 0) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / f"{base:020d}.log"
    file.write_bytes(b"".join(batches))
    return file


def test_a_segment_shows_where_each_leader_epoch_starts_and_ends(tmp_path):
    read = segment_of(str(segment(tmp_path, batch(5, 1, 3), batch(8, 1), batch(9, 4, 2), base=5)))

    assert [(run.epoch, run.first.base, run.last.last, run.batches) for run in read.runs] == [
        (1, 5, 8, 2),
        (4, 9, 10, 1),
    ]
    assert (read.end, read.holes, read.problem) == (11, 0, None)


def test_a_segment_with_large_batches_is_read_to_its_end(tmp_path):
    read = segment_of(str(segment(tmp_path, *(batch(number, 0, payload=200_000) for number in range(20)))))

    assert (read.end, read.runs[0].batches, read.runs[0].last.position) == (20, 20, 19 * 200_061)


def test_zeros_at_the_end_of_a_segment_are_a_problem_only_if_other_bytes_follow(tmp_path):
    assert segment_of(str(segment(tmp_path, batch(0, 0), bytes(5000)))).problem is None
    assert (
        "zeros where a batch should begin" in segment_of(str(segment(tmp_path, batch(0, 0), bytes(500), b"x"))).problem
    )


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (batch(1, 0, magic=1), "message format 1"),
        (batch(1, 0, magic=7), "its format would be 7"),
        (batch(0, 0), "a batch begins at offset 0, and offset 1 is the least possible"),
        (batch(1, 0)[:40], "ends within a batch"),
        (struct.pack(">qi", 1, 2**31 - 1) + batch(1, 0)[12:], "ends within a batch"),
        (struct.pack(">qi", 1, -5) + batch(1, 0)[12:], "its length would be -5"),
        (batch(1, -1), "a batch has no leader epoch"),
    ],
)
def test_reading_a_segment_ends_at_an_invalid_batch(tmp_path, bad, said):
    read = segment_of(str(segment(tmp_path, batch(0, 0), bad)))

    assert said in read.problem
    assert read.end == 1


def test_a_batch_with_a_lower_leader_epoch_than_the_previous_batch_is_a_problem(tmp_path):
    read = segment_of(str(segment(tmp_path, batch(0, 3), batch(1, 2))))

    assert "leader epoch 2, and the previous batch has 3" in read.problem


def test_audit_reads_the_epoch_checkpoint_and_the_topic_id_that_kafka_writes(tmp_path):
    (tmp_path / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n7 120\n")
    (tmp_path / "partition.metadata").write_text("version: 0\ntopic_id: xnCX-XK9Sj6STj25Ls_aVw")

    assert epochs_of(str(tmp_path)) == [EpochEntry(0, 0, 3), EpochEntry(7, 120, 4)]
    assert topic_id_of(str(tmp_path)) == "xnCX-XK9Sj6STj25Ls_aVw"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1\n0\n", "line 1 must be the version, 0"),
        ("0\nx\n", "line 2 must be the number"),
        ("0\n2\n0 0\n", "line 2 promises 2 entries, but 1 lines follow"),
        ("0\n1\n0 0", "line 2 promises 1 entries, but 0 lines follow"),
        ("0\n1\n0 9223372036854775808\n", "line 3 must have a number from 0 to 9223372036854775807"),
        ("0\n2\n3 10\n2 20\n", "line 4 has a lower epoch or offset"),
        ("0\n" + "9" * 5000 + "\n", "line 2 must be the number"),
    ],
)
def test_reading_an_invalid_checkpoint_names_the_wrong_line(tmp_path, text, said):
    (tmp_path / "leader-epoch-checkpoint").write_text(text)
    with pytest.raises(Unreadable, match=said):
        epochs_of(str(tmp_path))


def test_audit_neither_follows_links_nor_opens_pipes_in_a_data_directory(tmp_path):
    data = tmp_path / "data"
    segment(data / "t-0", batch(0, 0))
    (tmp_path / "outside").write_text("0\n1\nt 0 5\n")
    (data / "replication-offset-checkpoint").symlink_to(tmp_path / "outside")
    (data / "t-1").symlink_to(data / "t-0")
    (data / "loop").symlink_to(data)
    os.mkfifo(data / "meta.properties")

    assert directory_of(str(data)).high_watermarks == {}
    assert disks_among([str(tmp_path)]) == [str(data)]


def test_audit_recognizes_a_data_directory_by_its_files(tmp_path):
    segment(tmp_path / "with-a-replica" / "t-0", batch(0, 0))
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "meta.properties").write_text("version=1\nnode.id=1\n")
    (tmp_path / "logs" / "t-0").mkdir(parents=True)
    (tmp_path / "logs" / "server.log").write_text("a line\n")

    assert is_data_directory(str(tmp_path / "with-a-replica"))
    assert is_data_directory(str(tmp_path / "new"))
    assert not is_data_directory(str(tmp_path / "logs"))
    assert disks_among([str(tmp_path)]) == [str(tmp_path / "new"), str(tmp_path / "with-a-replica")]


def test_crc32c_returns_the_check_value_of_rfc_3720():
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720, and every catalogue of checksums
