"""`epochfuzz audit` of data directories, alone and together with logs."""

import json
import shutil

import pytest

from tests.audit.disks.disk_sets import unpacked
from tests.audit.telling import leads, written
from tests.printed import check_json

LOST, KEPT = "unclean-3.9.2", "kept-4.3.1"


def test_audit_exits_with_1_for_a_loss_on_disk_and_names_the_evidence(epochfuzz, tmp_path):
    data = unpacked(LOST, tmp_path)
    ended = epochfuzz("audit", data)

    assert ended.code == 1
    assert "committed-loss: t-0, offsets 20 to 49, epoch 2" in ended.out
    assert "leader-epoch-checkpoint:4" in ended.out
    assert "5 data directories with 3 replicas of 1 partition, 3 segments" in ended.out


def test_an_audit_of_disks_alone_is_inconclusive_after_a_change_of_leader(epochfuzz, tmp_path):
    ended = epochfuzz("audit", unpacked(KEPT, tmp_path))

    assert ended.code == 4
    assert "records that every replica has truncated leave no trace" in ended.out
    assert ended.out.splitlines()[-1].startswith("inconclusive: ")


@pytest.mark.parametrize(("partition", "epoch", "is_gap"), [("other-0", 9, True), ("t-0", 0, True), ("t-0", 9, False)])
def test_logs_without_the_latest_leader_epoch_of_the_disks_are_a_gap(epochfuzz, tmp_path, partition, epoch, is_gap):
    data = unpacked(KEPT, tmp_path)
    logs = written(tmp_path / "logs", {1: [leads(1, epoch, 0, isr="1", partition=partition)]})
    ended = epochfuzz("audit", data, logs)

    assert ("1 partition changed the leader, and the logs do not show the latest leader epoch" in ended.out) == is_gap


def test_the_json_of_an_audit_of_disks_has_the_number_of_replicas_and_the_findings(epochfuzz, tmp_path):
    ended = epochfuzz("audit", unpacked(LOST, tmp_path), "--json")
    check_json(["audit", "--json"], ended.out)
    said = json.loads(ended.out)

    assert said["disks"]["replicas"] == 3
    assert [finding["kind"] for finding in said["findings"]] == ["committed-loss", "unclean-election"]


def test_a_loss_that_logs_and_disks_show_is_a_single_finding(epochfuzz, tmp_path):
    data = unpacked(LOST, tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "server.log").write_text(
        "[2026-11-25 23:26:29,400] INFO [Broker id=1] Leader t-0 with topic id Some(xnCX-XK9Sj6STj25Ls_aVw) starts at"
        " leader epoch 0 from offset 50 with partition epoch 1, high watermark 50, ISR [1], adding replicas [] and"
        " removing replicas [] . Previous leader None and previous leader epoch was -1. (state.change.logger)\n"
        "[2026-11-25 23:26:29,500] INFO [Broker id=2] Leader t-0 with topic id Some(xnCX-XK9Sj6STj25Ls_aVw) starts at"
        " leader epoch 2 from offset 20 with partition epoch 3, high watermark 20, ISR [2], adding replicas [] and"
        " removing replicas [] . Previous leader None and previous leader epoch was -1. (state.change.logger)\n"
    )
    ended = epochfuzz("audit", data, tmp_path / "logs", "--json")
    losses = [finding for finding in json.loads(ended.out)["findings"] if finding["kind"] == "committed-loss"]

    assert [(loss["first_offset"], loss["last_offset"]) for loss in losses] == [(20, 49)]
    names = {line["file"].rpartition("/")[2] for line in losses[0]["evidence"]}
    assert {"server.log", "leader-epoch-checkpoint"} <= names


def test_audit_rejects_disks_of_two_clusters(epochfuzz, tmp_path):
    ended = epochfuzz("audit", unpacked(LOST, tmp_path / "1"), unpacked(KEPT, tmp_path / "2"))

    assert ended.code == 2
    assert "the disks belong to 2 clusters" in ended.err


def test_audit_writes_nothing_into_a_data_directory(epochfuzz, tmp_path):
    data = unpacked(LOST, tmp_path)
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in data.rglob("*") if file.is_file()}
    epochfuzz("audit", data)

    assert before == {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in data.rglob("*") if file.is_file()}


@pytest.mark.parametrize("missing", ["A", "B"])
def test_a_replica_whose_disk_is_missing_is_a_gap(epochfuzz, tmp_path, missing):
    data = unpacked(LOST, tmp_path)
    for copy in data.glob(f"{missing}*"):
        shutil.rmtree(copy)

    said = f"the replica of broker {ord(missing) - 64} is not among these disks; add the data directories"
    assert said in epochfuzz("audit", data).out


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "server.log is empty"), ("replicas: 3\n", "audit found no line of a Kafka broker in 1 file")],
)
def test_a_log_without_a_line_of_a_broker_is_a_gap_if_disks_are_given(epochfuzz, tmp_path, text, said):
    (tmp_path / "server.log").write_text(text)
    ended = epochfuzz("audit", unpacked(LOST, tmp_path / "disks"), tmp_path / "server.log", "--no-spark")

    assert ended.code == 1
    assert "committed-loss: t-0, offsets 20 to 49, epoch 2" in ended.out
    assert said in ended.out


def test_an_audit_of_a_disk_without_a_partition_is_inconclusive(epochfuzz, tmp_path):
    ended = epochfuzz("audit", unpacked("unclean-2.6.3", tmp_path) / "C")

    assert ended.code == 4
    assert "these disks hold no replica of a topic's partition; add all directories of log.dirs" in ended.out


def test_an_audit_of_one_replica_without_metadata_is_inconclusive(epochfuzz, tmp_path):
    first = unpacked("unclean-2.6.3", tmp_path) / "A"
    (first / "t-0" / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    ended = epochfuzz("audit", first)

    assert ended.code == 4
    assert "t-0: only the replica of broker 1 is among these disks, and no metadata name the others" in ended.out
