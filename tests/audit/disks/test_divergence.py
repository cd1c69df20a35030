"""Two replicas with different batches of one leader epoch at one offset."""

from pathlib import Path

import pytest

from epochfuzz.harness.audit.disks.divergence import ReadBudget
from epochfuzz.harness.audit.disks.records import batches
from epochfuzz.harness.cluster.record_format.batches import HEADER, crc32c
from tests.audit.disks.disk_sets import on_disk, unpacked
from tests.audit.disks.test_comparing import replica
from tests.audit.disks.test_disk_files import batch

CRC_AT, CHECKED_FROM, ATTRIBUTES_AT = 17, 21, 22
CLEANED = 0x40


def sealed(data: bytes) -> bytes:
    """Return a batch with the checksum of its bytes."""
    return data[:CRC_AT] + crc32c(data[CHECKED_FROM:]).to_bytes(4, "big") + data[CHECKED_FROM:]


def intact(base: int, records: int = 1, payload: bytes = bytes(10), attributes: int = 0, epoch: int = 1) -> bytes:
    head = bytearray(batch(base, epoch, records, len(payload))[: HEADER.size])
    head[ATTRIBUTES_AT] = attributes
    return sealed(bytes(head) + payload)


def three_batches(directory: Path, broker: int, middle: bytes, high_watermark: int = 15, **changed: object) -> None:
    log: dict[str, object] = {"batches": [intact(0, 5), middle, intact(10, 5)], "epochs": [(1, 0)]} | changed
    replica(directory, broker, high_watermark=high_watermark, **log)  # type: ignore[arg-type]


OURS, THEIRS = intact(5, 5), intact(5, 5, b"other data")


def test_two_intact_batches_below_both_high_watermarks_have_diverged(tmp_path):
    three_batches(tmp_path, 1, OURS)
    three_batches(tmp_path, 2, THEIRS)
    audit = on_disk(tmp_path)

    assert [(f.what, f.name, f.first_offset, f.last_offset, f.leader_epoch) for f in audit.findings] == [
        ("diverged", "t-0", 5, 9, 1)
    ]
    assert {(Path(e.file).name, e.broker, e.line) for e in audit.findings[0].evidence} == {
        ("00000000000000000000.log", 1, 71),
        ("00000000000000000000.log", 2, 71),
        ("replication-offset-checkpoint", 1, 3),
        ("replication-offset-checkpoint", 2, 3),
    }
    assert audit.gaps == []


def test_three_replicas_that_differ_at_one_offset_are_one_finding(tmp_path):
    three_batches(tmp_path, 1, OURS)
    three_batches(tmp_path, 2, THEIRS)
    three_batches(tmp_path, 3, intact(5, 5, b"third data"))
    (finding,) = on_disk(tmp_path).findings

    assert finding.told.startswith("Broker 1, broker 2 and broker 3 have different batches of leader epoch 1 at offset")


def test_audit_compares_a_lagging_replica_up_to_its_log_end_offset(tmp_path):
    three_batches(tmp_path, 1, OURS)
    three_batches(tmp_path, 2, THEIRS, 10, batches=[intact(0, 5), THEIRS])

    assert [finding.what for finding in on_disk(tmp_path).findings] == ["diverged"]


@pytest.mark.parametrize("segments", [1, 2])
def test_audit_finds_a_difference_in_the_last_batch_without_reading_the_log_twice(tmp_path, monkeypatch, segments):
    monkeypatch.setattr(ReadBudget, "take", lambda budget, batches: False)
    three_batches(tmp_path, 1, OURS)
    three_batches(tmp_path, 2, OURS, batches=[intact(0, 5), OURS, intact(10, 5, b"other data")])
    if segments == 2:
        for log in tmp_path.rglob("*.log"):
            data = log.read_bytes()
            log.with_name(f"{5:020d}.log").write_bytes(data[len(OURS) :])
            log.write_bytes(data[: len(OURS)])
    (finding,) = on_disk(tmp_path).findings

    assert (finding.what, finding.first_offset, finding.last_offset) == ("diverged", 10, 14)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"middle": THEIRS, "high_watermark": 9}, id="above-a-high-watermark"),
        pytest.param({"middle": intact(5, 4), "batches": [intact(0, 5), intact(5, 4)]}, id="of-other-offsets"),
        pytest.param({"middle": intact(5, 5, b"other data", CLEANED)}, id="cleaned"),
        pytest.param({"middle": THEIRS, "batches": [intact(0, 5, b"none alike")]}, id="with-no-batch-in-common"),
    ],
)
def test_a_difference_with_another_possible_explanation_is_a_gap(tmp_path, other):
    three_batches(tmp_path, 1, OURS)
    three_batches(tmp_path, 2, **other)
    audit = on_disk(tmp_path)

    assert audit.findings == []
    assert any("have different batches of one leader epoch at offset" in gap for gap in audit.gaps)


def test_a_batch_with_a_wrong_checksum_is_a_gap(tmp_path):
    three_batches(tmp_path, 1, OURS)
    three_batches(tmp_path, 2, THEIRS[:CRC_AT] + OURS[CRC_AT : CRC_AT + 4][::-1] + THEIRS[CHECKED_FROM:])
    audit = on_disk(tmp_path)

    assert audit.findings == []
    assert any("byte 71: a batch has the wrong checksum" in gap for gap in audit.gaps)


def test_a_changed_batch_on_recorded_disks_is_a_divergence(tmp_path):
    data = unpacked("kept-4.3.1", tmp_path)
    (log,) = (data / "B" / "t-0").glob("*.log")
    place, whole = list(batches(str(log)))[1]
    written = bytearray(log.read_bytes())
    changed = sealed(whole[:-1] + bytes([whole[-1] ^ 1]))
    written[place.position : place.position + place.size] = changed
    before = on_disk(data).findings
    log.write_bytes(written)

    assert before == []
    assert [(f.what, f.first_offset, f.last_offset) for f in on_disk(data).findings] == [
        ("diverged", place.base, place.last)
    ]
