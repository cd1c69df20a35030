"""The cluster of processes conforms, its files have Kafka's formats, and conform detects each of its mutants."""

import ast
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.protocol.wire import config_of
from epochfuzz.harness.conform.run import run
from epochfuzz.model.kafka.storage.leader_epoch_cache import LeaderEpochCache
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from tests.conform.running import SUBJECT, conform, reproducer
from tests.conform.subject.cluster import Cluster
from tests.conform.subject.defects import DEFECTS
from tests.conform.subject.protocols import PROTOCOLS
from tests.conform.subject.records import batch, batches, crc32c

EVERY_FAULT = {
    "power_loss": True,
    "asynchronous_checkpoint": True,
    "unclean_leader_election": True,
    "min_insync_replicas": 2,
    "records_per_fetch": 2,
}

# The finding for each mutant: a schedule and the differing field, under kip-320 unless another protocol is named.
SHORTEST: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "followers-do-not-checkpoint": (
        {},
        ["produce A", "shrink B", "fetch B", "receive B", "crash B"],
        "replicas.B.hw",
    ),
    "log-file-is-not-cut": (
        {"protocol": "hw", "seed": 4},
        ["produce A", "elect B", "notify A", "crash A"],
        "replicas.A.leo",
    ),
    "epoch-file-is-not-cut": (
        {},
        ["crash A", "restart A", "crash A"],
        "replicas.A.epochs",
    ),
    "fsync-is-forgotten": (
        {"power_loss": True},
        ["produce A", "flush A", "power_loss A"],
        "replicas.A.leo",
    ),
    "recovery-drops-the-last-batch": (
        {},
        ["produce A", "crash A", "restart A"],
        "replicas.A.leo",
    ),
    "recovery-trusts-the-checkpoint": (
        {"power_loss": True, "seed": 1},
        ["produce A", "shrink B", "power_loss A", "restart A"],
        "replicas.A.hw",
    ),
    "followers-assign-their-own-epoch": (
        {},
        ["produce A", "expire B", "notify A", "notify B", "fetch B", "receive B"],
        "replicas.B.epochs",
    ),
    "conflicting-epochs-are-kept": (
        {},
        ["expire B", "notify A"],
        "replicas.A.epochs",
    ),
    "latest-epoch-ends-at-the-high-watermark": (
        {"protocol": "kip-101", "seed": 2},
        ["produce A", "fetch B", "receive B", "elect B", "notify A", "notify B", "fetch A", "receive A"],
        "replicas.A.leo",
    ),
    "epochs-outlive-the-restart": (
        {},
        ["crash A", "restart A"],
        "replicas.A.epochs",
    ),
    "unheard-epochs-have-an-end": (
        {"protocol": "kip-279"},
        ["produce A", "elect B", "notify B", "elect A", "produce B", "notify B", "fetch B", "receive B"],
        "replicas.B.leo",
    ),
    "empty-logs-do-not-ask": (
        {"protocol": "kip-101", "seed": 3},
        ["elect B", "notify B", "produce B", "notify A", "fetch A", "receive A"],
        "replicas.A.leo",
    ),
    "answers-run-ahead": (
        {"seed": 1},
        ["produce A", "produce A", "fetch B", "receive B", "fetch B", "receive B"],
        "replicas.B.hw",
    ),
    "fail-over-keeps-the-dead": (
        {},
        ["crash A", "elect B"],
        "controller.isr",
    ),
    "older-epochs-are-not-fenced": (
        {},
        ["expire B", "notify A", "fetch B"],
        "applied",
    ),
    "newer-epochs-are-not-fenced": (
        {},
        ["expire B", "notify B", "fetch B"],
        "applied",
    ),
    "dropped-answers-arrive": (
        {},
        ["fetch B", "drop B", "fetch B"],
        "applied",
    ),
    "expands-at-the-high-watermark": (
        {"replicas": 3, "seed": 1},
        ["produce A", "expire B", "notify A", "notify B", "fetch B", "expand B"],
        "applied",
    ),
    "shrinking-does-not-advance": (
        {},
        ["produce A", "shrink B"],
        "replicas.A.hw",
    ),
    "remote-offsets-outlive-the-epoch": (
        {"seed": 2},
        ["fetch B", "expire B", "notify A", "expand B"],
        "applied",
    ),
    "everyone-is-waited-for": (
        {},
        ["produce A", "shrink B"],
        "replicas.A.hw",
    ),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_cluster_conforms(protocol: str) -> None:
    conformance = conform(SUBJECT, protocol, schedules=10, replicas=3)
    assert conformance.nonconformities == []
    assert conformance.schedules == 10


@pytest.mark.thorough
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_cluster_conforms_with_every_fault_enabled(protocol: str) -> None:
    assert conform(SUBJECT, protocol, schedules=10, replicas=3, **EVERY_FAULT).nonconformities == []


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_cluster_conforms_on_two_thousand_schedules(protocol: str) -> None:
    assert conform(SUBJECT, protocol, schedules=2_000, jobs=2).nonconformities == []
    assert conform(SUBJECT, protocol, schedules=2_000, jobs=2, replicas=3, **EVERY_FAULT).nonconformities == []


def test_the_cluster_leaves_no_process_and_no_file(
    living: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    conform(SUBJECT, schedules=1)
    assert living() == []
    assert list(tmp_path.iterdir()) == []


def test_the_cluster_shares_no_code_with_the_model() -> None:
    directory = Path(__file__).parent / "subject"
    imported: set[str] = set()
    for file in directory.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module))
    assert "tests.conform.subject.log" in imported
    assert not [each for each in imported if each.split(".")[0] in ("epochfuzz", "model", "strategies", "harness")]


class TestFiles:
    """The files on disk have Kafka's formats."""

    @pytest.fixture
    def cluster(self) -> Any:
        cluster = Cluster()
        cluster.reset(dict(config_of(Configuration())), "kip-320")
        yield cluster
        cluster.close()

    def test_every_replica_is_a_separate_process_that_a_crash_kills(self, cluster: Cluster) -> None:
        pids = {name: pid for name, (pid, _) in cluster._processes.items()}
        assert len({os.getpid(), *pids.values()}) == 3
        assert cluster.apply("crash B")
        with pytest.raises(ProcessLookupError):
            os.kill(pids["B"], 0)
        os.kill(pids["A"], 0)

    def test_a_log_file_has_its_base_offset_as_name_and_record_batches_of_version_2(self, cluster: Cluster) -> None:
        cluster.apply("produce A")
        data = (cluster.directory / "A" / "events-0" / "00000000000000000000.log").read_bytes()
        offset, length, epoch, magic, checksum = struct.unpack_from(">qiibI", data)
        assert (offset, length, epoch, magic) == (0, len(data) - 12, 0, 2)
        assert checksum == crc32c(data[21:])
        assert data.endswith(b"\x04m0\x00")  # a value of two bytes, no headers

    def test_checkpoints_have_a_version_a_count_and_a_line_for_each_entry(self, cluster: Cluster) -> None:
        for event in ("produce A", "shrink B", "expire A", "elect A", "catch_up A"):
            cluster.apply(event)
        directory = cluster.directory / "A"
        assert (directory / "replication-offset-checkpoint").read_text() == "0\n1\nevents 0 1\n"
        epochs = (directory / "events-0" / "leader-epoch-checkpoint").read_text()
        assert epochs == "0\n2\n0 0\n2 1\n"
        assert LeaderEpochCache.from_checkpoint(epochs).entries == [(0, 0), (2, 1)]

    def test_a_torn_batch_at_the_end_of_a_log_is_not_read(self) -> None:
        whole, torn = batch(0, 0, "m0"), batch(1, 0, "m1").data[:-1]
        spoilt = bytes([*batch(1, 0, "m1").data[:-1], 7])
        for tail in (torn, spoilt):
            assert [one.record for one in batches(whole.data + tail)] == ["m0"]

    def test_the_checksum_of_a_batch_is_crc_32c(self) -> None:
        assert crc32c(b"123456789") == 0xE3069283  # the check value of RFC 3720's polynomial


def test_every_mutant_has_a_shortest_schedule() -> None:
    assert set(SHORTEST) == set(DEFECTS)


TAKES_LONG = (
    *("followers-do-not-checkpoint", "expands-at-the-high-watermark", "remote-offsets-outlive-the-epoch"),
    *("latest-epoch-ends-at-the-high-watermark", "followers-assign-their-own-epoch", "unheard-epochs-have-an-end"),
    *("epoch-file-is-not-cut", "epochs-outlive-the-restart", "recovery-trusts-the-checkpoint"),
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "defect",
    [pytest.param(each, marks=[pytest.mark.slow] if each in TAKES_LONG else []) for each in sorted(SHORTEST)],
)
def test_conform_detects_and_shrinks_a_mutant(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MOST_NONCONFORMITIES", 1)
    arguments, events, field = SHORTEST[defect]
    conformance = conform(
        (*SUBJECT, "--defect", defect), **{"schedules": 400, "seed": 3, "max_failures": 1, **arguments}
    )
    assert not conformance.conforms
    assert (reproducer(conformance), conformance.nonconformities[0].fault.field) == (events, field)


def test_the_cluster_rejects_an_unknown_protocol_with_a_reason() -> None:
    with CommandSubject(SUBJECT) as subject, pytest.raises(Exception, match="there is hw, kip-101, kip-279, kip-320"):
        subject.reset(config_of(Configuration()), "kip-966")
