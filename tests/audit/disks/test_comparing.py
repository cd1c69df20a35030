"""What two replicas show together, written batch by batch."""

from pathlib import Path

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


def test_an_epoch_that_only_the_checkpoint_has_proves_nothing(tmp_path):
    committed_up_to_8_and_replaced_from_5(tmp_path, batches=[batch(0, 1, 5), batch(5, 1, 2)])

    assert on_disk(tmp_path).findings == []


def test_an_epoch_that_only_the_segment_has_proves_nothing(tmp_path):
    committed_up_to_8_and_replaced_from_5(tmp_path, epochs=[(1, 0)])

    assert on_disk(tmp_path).findings == []


def test_a_log_that_is_shorter_than_the_high_watermark_is_a_gap_and_no_loss(tmp_path):
    replica(tmp_path, 1, [batch(0, 1, 10)], [(1, 0)], 10)
    replica(tmp_path, 2, [batch(0, 1, 5)], [(1, 0)], 10)
    audit = on_disk(tmp_path)

    assert audit.findings == []
    assert any("the log ends at offset 5, below the high watermark of its checkpoint, 10" in gap for gap in audit.gaps)


def test_another_topic_id_is_another_topic(tmp_path):
    committed_up_to_8_and_replaced_from_5(tmp_path, topic_id="A" * 21 + "Q")

    assert on_disk(tmp_path).findings == []


def test_without_topic_ids_a_common_batch_says_that_the_topic_is_the_same(tmp_path):
    committed_up_to_8_and_replaced_from_5(tmp_path, topic_id=None)

    assert losses(on_disk(tmp_path)) == [("t-0", 5, 7)]


def test_without_topic_ids_and_a_common_batch_nothing_is_known(tmp_path):
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


def test_a_replica_that_knows_a_later_epoch_was_not_committed_before_it(tmp_path):
    # Broker 2 led epoch 2 from offset 5. Broker 1 was elected from its old log for epoch 3: its high watermark counts
    # for epoch 3, and says nothing about its records of epoch 1 before epoch 2.
    replica(tmp_path, 1, [batch(0, 1, 5), batch(5, 1, 5), batch(10, 3, 10)], [(1, 0), (3, 10)], 20)
    replica(tmp_path, 2, [batch(0, 1, 5), batch(5, 2, 10)], [(1, 0), (2, 5)], 12)

    assert losses(on_disk(tmp_path)) == [("t-0", 5, 11)]
