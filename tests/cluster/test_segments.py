"""The records of a replica, read from a file that Kafka 4.3.1 has written."""

from pathlib import Path

from epochfuzz.harness.cluster.broker.segments import records
from epochfuzz.harness.documents.cluster_records import Record

SEGMENT = bytes.fromhex(
    "00000000000000000000003a000000010240ed55b0000000000000000001a20819b1a5000001a20819b1a50000000000"
    "0007d00000000000000000000110000000010478300000000000000000010000003a00000001027d6ac5830000000000"
    "00000001a20819b1dd000001a20819b1dd0000000000000000000000000000000000011000000001046d300000000000"
    "000000020000003a0000000102db2ea644000000000000000001a20819b1ef000001a20819b1ef000000000000000100"
    "0000000000000000011000000001047930000000000000000003000000390000000102859fd882000000000000000001"
    "a20819b222000001a20819b22200000000000007d0000000000001000000010e00000001027800"
)
RECORDS = [Record(0, 1, "x0"), Record(1, 1, "m0"), Record(2, 1, "y0"), Record(3, 1, "x")]


def written(directory: Path, data: bytes) -> Path:
    (directory / "00000000000000000000.log").write_bytes(data)
    return directory


def test_records_have_their_offset_their_leader_epoch_and_their_value(tmp_path: Path) -> None:
    assert records(written(tmp_path, SEGMENT)) == RECORDS


def test_a_missing_partition_directory_has_no_records(tmp_path: Path) -> None:
    assert records(tmp_path / "t-0") == []


def test_a_partially_written_batch_has_no_records(tmp_path: Path) -> None:
    for length in range(len(SEGMENT)):
        found = records(written(tmp_path, SEGMENT[:length]))
        assert found == RECORDS[: len(found)]
    assert len(found) == len(RECORDS) - 1


def test_a_control_batch_has_no_records(tmp_path: Path) -> None:
    attributes = 22  # its low byte
    control = bytes([*SEGMENT[:attributes], SEGMENT[attributes] | 0x20, *SEGMENT[attributes + 1 :]])
    assert records(written(tmp_path, control)) == RECORDS[1:]
