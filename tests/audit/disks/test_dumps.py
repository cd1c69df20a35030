"""The output of kafka-dump-log.sh shows what the files show. These dumps are by the tool of Kafka 3.9.2."""

import tarfile
from pathlib import Path

import pytest

from tests.audit.disks.disk_sets import RECORDED, kinds, losses, on_disk

LOSS = [("t-0", 20, 49)]


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """A directory for each broker, with its meta.properties, its checkpoint and its dumps."""
    with tarfile.open(RECORDED / "dumped-unclean-3.9.2.txz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def test_dumps_show_the_loss_and_the_unclean_election(dumps):
    audit = on_disk(dumps)

    assert losses(audit) == LOSS
    assert kinds(audit) == {"committed-loss", "unclean-election"}
    (loss,) = (finding for finding in audit.findings if finding.what == "committed-loss")
    assert [(Path(event.file).name, event.line) for event in loss.evidence] == [
        ("metadata.txt", 95),
        ("t-0.txt", 24),
        ("t-0.txt", 10),
    ]


def test_the_high_watermark_shows_the_loss_without_the_metadata(dumps):
    (dumps / "controller" / "metadata.txt").unlink()

    assert losses(on_disk(dumps)) == LOSS


def test_the_metadata_show_the_loss_without_the_high_watermark(dumps):
    (dumps / "A" / "replication-offset-checkpoint").unlink()

    assert losses(on_disk(dumps)) == LOSS


def test_dumps_that_name_no_broker_are_a_gap_and_show_no_loss(dumps):
    for name in ("A", "B"):
        (dumps / name / "t-0.txt").rename(dumps / f"{name}.txt")
    audit = on_disk(dumps)

    assert losses(audit) == []
    assert any("does not name its broker; copy the broker's meta.properties" in gap for gap in audit.gaps)


def test_metadata_that_were_not_decoded_are_a_gap(dumps):
    file = dumps / "controller" / "metadata.txt"
    file.write_text("".join(line for line in file.read_text().splitlines(True) if not line.startswith("|")))

    assert any("dump the log with --cluster-metadata-decoder" in gap for gap in on_disk(dumps).gaps)


@pytest.mark.parametrize(
    "change",
    [
        ("isvalid: true", "isvalid: false"),
        ("partitionLeaderEpoch: 2", "partitionLeaderEpoch: -7"),
        ("baseOffset: 20", "baseOffset: 19"),
        ("baseOffset: 20", f"baseOffset: {'9' * 5000}"),
        ("count: 1", "count: x"),
    ],
    ids=lambda change: change[1][:40],
)
def test_a_dump_with_a_line_that_the_tool_does_not_write_shows_no_loss(dumps, change):
    file = dumps / "B" / "t-0.txt"
    file.write_text(file.read_text().replace(*change))

    assert losses(on_disk(dumps)) == []


@pytest.mark.parametrize("payload", ['{"type":5}', "{", "[" * 100_000, '{"type":"TOPIC_RECORD","data":{"name":1e999}}'])
def test_metadata_that_cannot_be_read_are_a_gap(dumps, payload):
    file = dumps / "controller" / "metadata.txt"
    lines = file.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if "PARTITION_CHANGE_RECORD" in line)
    lines[at] = f"{lines[at].partition(' payload: ')[0]} payload: {payload}"
    file.write_text("\n".join(lines))

    assert any("metadata.txt" in gap for gap in on_disk(dumps).gaps)
