"""The logs of two replicas, which these tests write batch by batch, compared with each other."""

from pathlib import Path

import pytest

from tests.audit.disks.disk_sets import losses, on_disk
from tests.audit.disks.test_disk_files import batch, segment

ID = "xnCX-XK9Sj6STj25Ls_aVw"


def replica(
    directory: Path,
    broker: int,
    batches: list[bytes],
    epochs: list[tuple[int, int]],
    high_watermark: int,
    topic_id: str | None = ID,
    base: int = 0,
) -> None:
    """Write a data directory with partition t-0."""
    data = directory / f"broker-{broker}"
    segment(data / "t-0", *batches, base=base)
    lines = "".join(f"{epoch} {start}\n" for epoch, start in epochs)
    (data / "t-0" / "leader-epoch-checkpoint").write_text(f"0\n{len(epochs)}\n{lines}")
    if topic_id is not None:
        (data / "t-0" / "partition.metadata").write_text(f"version: 0\ntopic_id: {topic_id}")
    (data / "replication-offset-checkpoint").write_text(f"0\n1\nt 0 {high_watermark}\n")
    (data / "meta.properties").write_text(f"version=1\nnode.id={broker}\ncluster.id=c\n")


def committed_up_to_8_and_replaced_from_5(directory: Path, **changed: object) -> None:
    replica(directory, 1, [batch(0, 1, 5), batch(5, 1, 5)], [(1, 0)], 8)
    later: dict[str, object] = {"batches": [batch(0, 1, 5), batch(5, 3, 2)], "epochs": [(1, 0), (3, 5)]} | changed
    replica(directory, 2, high_watermark=7, **later)  # type: ignore[arg-type]


def test_records_below_the_high_watermark_that_a_later_leader_does_not_have_are_lost(tmp_path):
    committed_up_to_8_and_replaced_from_5(tmp_path)

    assert losses(on_disk(tmp_path)) == [("t-0", 5, 7)]


def test_records_above_the_high_watermark_are_a_gap(tmp_path):
    replica(tmp_path, 1, [batch(0, 1, 5), batch(5, 1, 5)], [(1, 0)], 5)
    replica(tmp_path, 2, [batch(0, 1, 5), batch(5, 3, 2)], [(1, 0), (3, 5)], 7)
    audit = on_disk(tmp_path)

    assert audit.findings == []
    assert any("has offsets 5 to 9 of leader epoch 1" in gap for gap in audit.gaps)


def test_an_epoch_that_only_the_checkpoint_has_shows_no_loss(tmp_path):
    committed_up_to_8_and_replaced_from_5(tmp_path, batches=[batch(0, 1, 5), batch(5, 1, 2)])

    assert on_disk(tmp_path).findings == []


def test_an_epoch_that_only_the_segment_has_shows_no_loss(tmp_path):
    committed_up_to_8_and_replaced_from_5(tmp_path, epochs=[(1, 0)])

    assert on_disk(tmp_path).findings == []


def test_a_log_that_is_shorter_than_the_high_watermark_is_a_gap_and_no_loss(tmp_path):
    replica(tmp_path, 1, [batch(0, 1, 10)], [(1, 0)], 10)
    replica(tmp_path, 2, [batch(0, 1, 5)], [(1, 0)], 10)
    audit = on_disk(tmp_path)

    assert audit.findings == []
    assert any("the log ends at offset 5, below the high watermark of its checkpoint, 10" in gap for gap in audit.gaps)


def test_a_log_that_is_shorter_than_the_recovery_point_is_a_gap_and_no_loss(tmp_path):
    replica(tmp_path, 1, [batch(0, 1, 10)], [(1, 0)], 4)
    replica(tmp_path, 2, [batch(0, 1, 5)], [(1, 0)], 4)
    (tmp_path / "broker-2" / "recovery-point-offset-checkpoint").write_text("0\n1\nt 0 10\n")
    audit = on_disk(tmp_path)

    assert audit.findings == []
    assert any("the log ends at offset 5, below the recovery point of its checkpoint, 10" in gap for gap in audit.gaps)


def test_a_log_that_ends_at_its_recovery_point_is_no_gap(tmp_path):
    replica(tmp_path, 1, [batch(0, 1, 10)], [(1, 0)], 10)
    replica(tmp_path, 2, [batch(0, 1, 10)], [(1, 0)], 10)
    before = on_disk(tmp_path).gaps
    (tmp_path / "broker-2" / "recovery-point-offset-checkpoint").write_text("0\n1\nt 0 10\n")

    assert on_disk(tmp_path).gaps == before


def test_replicas_with_different_topic_ids_show_no_loss(tmp_path):
    committed_up_to_8_and_replaced_from_5(tmp_path, topic_id="A" * 21 + "Q")

    assert on_disk(tmp_path).findings == []


def test_replicas_without_topic_ids_are_compared_if_they_have_a_common_batch(tmp_path):
    committed_up_to_8_and_replaced_from_5(tmp_path, topic_id=None)

    assert losses(on_disk(tmp_path)) == [("t-0", 5, 7)]


def test_replicas_without_topic_ids_and_without_a_common_batch_are_a_gap(tmp_path):
    committed_up_to_8_and_replaced_from_5(tmp_path, topic_id=None, batches=[batch(0, 3, 2)], epochs=[(3, 0)])
    audit = on_disk(tmp_path)

    assert audit.findings == []
    assert any("have no topic id and no batch in common" in gap for gap in audit.gaps)


def test_records_that_retention_has_deleted_from_the_later_log_are_not_lost(tmp_path):
    replica(tmp_path, 1, [batch(0, 1, 10)], [(1, 0)], 10)
    replica(tmp_path, 2, [batch(30, 4, 2)], [(4, 30)], 32, base=30)
    audit = on_disk(tmp_path)

    assert audit.findings == []
    assert any("ends at offset 10, before the logs of later leaders begin" in gap for gap in audit.gaps)


def test_a_high_watermark_of_a_later_epoch_does_not_count_for_records_of_an_earlier_epoch(tmp_path):
    # Broker 2 led epoch 2 from offset 5. Broker 1 was elected from its old log for epoch 3: its high watermark counts
    # for epoch 3, and says nothing about its records of epoch 1 before epoch 2.
    replica(tmp_path, 1, [batch(0, 1, 5), batch(5, 1, 5), batch(10, 3, 10)], [(1, 0), (3, 10)], 20)
    replica(tmp_path, 2, [batch(0, 1, 5), batch(5, 2, 10)], [(1, 0), (2, 5)], 12)

    assert losses(on_disk(tmp_path)) == [("t-0", 5, 11)]


def test_audit_compares_the_local_segments_of_a_log_with_tiered_storage(tmp_path):
    epochs = [(0, 0), (1, 10)]
    replica(tmp_path, 1, [batch(20, 1, 5), batch(25, 1, 5)], epochs, 28, base=20)
    replica(tmp_path, 2, [batch(20, 1, 5), batch(25, 3, 2)], [*epochs, (3, 25)], 27, base=20)
    audit = on_disk(tmp_path)

    assert losses(audit) == [("t-0", 25, 27)]
    assert any("older segments are in tiered storage, or are missing" in gap for gap in audit.gaps)


def test_a_follower_that_took_only_the_local_segments_of_its_leader_has_lost_nothing(tmp_path):
    replica(tmp_path, 1, [batch(0, 0, 10), batch(10, 1, 10)], [(0, 0), (1, 10)], 20)
    replica(tmp_path, 2, [batch(20, 1, 5), batch(25, 3, 5)], [(0, 0), (1, 10), (3, 25)], 30, base=20)

    assert on_disk(tmp_path).findings == []


@pytest.mark.parametrize("name", ["0.log.deleted", "0.log.swap", "0.log.cleaned", "0.index.deleted"])
def test_audit_ignores_segment_files_that_kafka_no_longer_reads(tmp_path, name):
    committed_up_to_8_and_replaced_from_5(tmp_path)
    (tmp_path / "broker-1" / "t-0" / f"{0:019d}{name}").write_bytes(batch(0, 0, 3))

    assert losses(on_disk(tmp_path)) == [("t-0", 5, 7)]


@pytest.mark.parametrize("ending", ["delete", "stray", "future"])
def test_a_deleted_or_stray_replica_is_a_gap_and_a_future_replica_is_ignored(tmp_path, ending):
    committed_up_to_8_and_replaced_from_5(tmp_path)
    own = tmp_path / "broker-1" / "t-0"
    own.rename(own.with_name(f"t-0.{'ab' * 16}-{ending}"))
    audit = on_disk(tmp_path)

    assert audit.findings == []
    assert any("was set aside by the broker" in gap for gap in audit.gaps) == (ending != "future")


def test_a_stale_copy_in_another_directory_of_the_same_broker_is_no_loss(tmp_path):
    whole, epochs = [batch(0, 1, 5), batch(5, 3, 5)], [(1, 0), (3, 5)]
    replica(tmp_path, 1, whole, epochs, 10)
    replica(tmp_path, 2, whole, epochs, 10)
    replica(tmp_path / "second", 1, [batch(0, 1, 5), batch(5, 1, 2)], [(1, 0)], 0)
    audit = on_disk(tmp_path)

    assert audit.findings == []
    assert any("has offsets 5 to 6 of leader epoch 1" in gap for gap in audit.gaps)


@pytest.mark.parametrize("codec", [1, 2, 3, 4, 0x10, 0x30])
def test_audit_compares_compressed_and_transactional_batches(tmp_path, codec):
    def marked(data: bytes) -> bytes:
        return data[:21] + codec.to_bytes(2, "big") + data[23:]

    replica(tmp_path, 1, [marked(batch(0, 1, 5)), marked(batch(5, 1, 5))], [(1, 0)], 8)
    replica(tmp_path, 2, [marked(batch(0, 1, 5)), batch(5, 3, 2)], [(1, 0), (3, 5)], 7)

    assert losses(on_disk(tmp_path)) == [("t-0", 5, 7)]


@pytest.mark.parametrize("more", [bytes(4096), b""])
def test_audit_ignores_zeros_and_empty_segments_that_a_crash_leaves(tmp_path, more):
    committed_up_to_8_and_replaced_from_5(tmp_path)
    own = tmp_path / "broker-1" / "t-0"
    with (own / f"{0:020d}.log").open("ab") as file:
        file.write(more)
    segment(own, base=10)

    assert losses(on_disk(tmp_path)) == [("t-0", 5, 7)]


def test_offsets_that_compaction_has_removed_are_not_lost(tmp_path):
    replica(tmp_path, 1, [batch(0, 1, 5), batch(8, 1, 2)], [(1, 0)], 10)
    replica(tmp_path, 2, [batch(0, 1, 5), batch(5, 1, 5), batch(10, 3, 2)], [(1, 0), (3, 10)], 12)
    (tmp_path / "broker-1" / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 8\n")
    audit = on_disk(tmp_path)

    assert (audit.findings, audit.gaps) == ([], [])


@pytest.mark.parametrize(
    "meta", ["version=0\nbroker.id=1\n", "node.id = 1\ncluster.id = c\n", "version=1\r\nnode.id=1\r\n"]
)
def test_meta_properties_of_every_version_name_the_broker(tmp_path, meta):
    committed_up_to_8_and_replaced_from_5(tmp_path)
    (tmp_path / "broker-1" / "meta.properties").write_text(meta)

    assert on_disk(tmp_path).brokers == {1, 2}
