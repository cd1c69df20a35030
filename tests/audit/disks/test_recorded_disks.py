"""The disks of real clusters, with the offsets that their clients lost.

`python -m tests.audit.disks.record` recorded these disks, except those of re-elected-leader, which are from
`epochfuzz cluster run re-elected-leader --keep-data`.
"""

import shutil

import pytest

from tests.audit.disks.disk_sets import RUNS, kinds, losses, on_disk, truth_of, unpacked

LOSING = [run for run in RUNS if truth_of(run).lost]
KEEPING = [run for run in RUNS if not truth_of(run).lost]
BY_UNCLEAN_ELECTION = [run for run in LOSING if not run.startswith(("disk-replaced", "re-elected-leader"))]


def has_metadata(run: str) -> bool:
    """Whether the cluster had no ZooKeeper, so that its elections are on disk."""
    return tuple(map(int, run.rpartition("-")[2].split(".")[:2])) >= (3, 3)


@pytest.mark.parametrize("run", LOSING)
def test_disks_show_the_first_and_last_lost_offset(run, tmp_path):
    first, last = truth_of(run).lost

    assert losses(on_disk(unpacked(run, tmp_path))) == [("t-0", first, last)]


@pytest.mark.parametrize("run", [run for run in BY_UNCLEAN_ELECTION if has_metadata(run)])
def test_the_metadata_log_shows_the_unclean_election(run, tmp_path):
    assert kinds(on_disk(unpacked(run, tmp_path))) == {"committed-loss", "unclean-election"}


@pytest.mark.parametrize("run", KEEPING)
def test_disks_of_a_cluster_that_kept_its_records_show_nothing(run, tmp_path):
    assert on_disk(unpacked(run, tmp_path)).findings == []


@pytest.mark.parametrize("run", [run for run in LOSING if run.startswith("unclean-3.9")])
def test_the_evidence_of_a_loss_names_each_file_and_its_broker(run, tmp_path):
    data = unpacked(run, tmp_path)
    (loss,) = (finding for finding in on_disk(data).findings if finding.what == "committed-loss")

    assert [(event.file.removeprefix(f"{data}/"), event.broker) for event in loss.evidence] == [
        ("B/__cluster_metadata-0/00000000000000000000.log", 2),
        ("A/t-0/00000000000000000000.log", 1),
        ("B/t-0/leader-epoch-checkpoint", 2),
        ("B/t-0/00000000000000000000.log", 2),
    ]
    assert "2 20: leader epoch 2 starts at offset 20" in [event.text for event in loss.evidence]
    assert loss.evidence[2].line == 4


@pytest.mark.parametrize("run", [run for run in LOSING if run.startswith("re-elected-leader")])
def test_a_leader_that_was_elected_again_loses_records_without_an_unclean_election(run, tmp_path):
    audit = on_disk(unpacked(run, tmp_path))

    assert kinds(audit) == {"committed-loss"}
    assert "The high watermark of broker 1 was 6, with leader epoch 3." in audit.findings[0].told


@pytest.mark.parametrize("run", [run for run in LOSING if run.startswith("consumed")])
def test_a_committed_position_shows_the_loss_without_the_disk_that_had_the_records(run, tmp_path):
    data = unpacked(run, tmp_path)
    for copy in data.glob("A*"):
        shutil.rmtree(copy)
    audit = on_disk(data)
    (loss,) = (finding for finding in audit.findings if finding.what == "committed-loss")

    assert losses(audit) == [("t-0", *truth_of(run).lost)]
    assert "Consumer group readers committed position 50" in loss.told
    assert loss.evidence[0].text.endswith("group readers committed position 50 of t-0, leader epoch 0")


@pytest.mark.parametrize("run", [run for run in LOSING if run.startswith("unclean-numbered")])
def test_one_disk_shows_the_missing_sequence_numbers_of_a_producer_as_a_gap(run, tmp_path):
    data = unpacked(run, tmp_path)
    assert not any("of producer" in gap for gap in on_disk(data).gaps)  # the other disks explain the gap

    audit = on_disk(data / "B")
    assert losses(audit) == []
    assert any("t-0: 30 records of producer" in gap and "are missing before offset 20" in gap for gap in audit.gaps)


@pytest.mark.parametrize("run", [run for run in KEEPING if run.startswith("uncommitted")])
def test_records_of_a_dead_leader_that_may_have_been_committed_are_a_gap(run, tmp_path):
    (gap,) = on_disk(unpacked(run, tmp_path)).gaps

    assert "has offsets 12 to 15 of leader epoch 0, which the leader of epoch 1 does not have" in gap


@pytest.mark.parametrize("run", [run for run in LOSING if run.startswith("unclean-2.6")])
def test_audit_finds_no_loss_without_the_disk_of_the_replica_that_had_the_records(run, tmp_path):
    data = unpacked(run, tmp_path)
    shutil.rmtree(data / "A")

    assert on_disk(data).findings == []
