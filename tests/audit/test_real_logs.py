"""Excerpts from logs of real clusters: audit finds each loss, and finds nothing if the cluster kept all records."""

import pytest

from epochfuzz.harness.audit.judgement.told_case import told_cases
from tests.audit.telling import LOGS, audited, found

LOST = {
    "re-elected-leader-3.9.2": [
        ("committed-loss", "t-0", 4, 5),
        ("re-elected-leader", "t-0", 4, 5),
        ("truncated-below-high-watermark", "t-0", 4, 5),
    ],
    "re-elected-leader-4.3.1": [
        ("committed-loss", "t-0", 4, 5),
        ("re-elected-leader", "t-0", 4, 5),
        ("truncated-below-high-watermark", "t-0", 4, 5),
    ],
    "re-elected-leader-4.4.0": [
        ("committed-loss", "t-0", 4, 5),
        ("re-elected-leader", "t-0", 4, 5),
        ("truncated-below-high-watermark", "t-0", 4, 5),
    ],
    "unclean-3.9.2": [
        ("committed-loss", "lossy-0", 550, 1706),
        ("unclean-election", "lossy-0", None, None),
        ("truncated-below-high-watermark", "lossy-0", 550, 1706),
    ],
    "unclean-4.3.1": [
        ("committed-loss", "lossy-0", 450, 1250),
        ("unclean-election", "lossy-0", None, None),
        ("truncated-below-high-watermark", "lossy-0", 450, 462),
        ("truncated-below-high-watermark", "lossy-0", 450, 1250),
    ],
    "zookeeper-1.1.1": [("unclean-election", "lossy-0", None, None)],
    "zookeeper-2.6.1": [
        ("committed-loss", "lossy-0", 387, 2053),
        ("unclean-election", "lossy-0", None, None),
        ("truncated-below-high-watermark", "lossy-0", 387, 952),
        ("truncated-below-high-watermark", "lossy-0", 387, 2053),
    ],
    "zookeeper-2.8.2": [
        ("committed-loss", "lossy-0", 390, 2511),
        ("unclean-election", "lossy-0", None, None),
        ("truncated-below-high-watermark", "lossy-0", 390, 2511),
        ("truncated-below-high-watermark", "lossy-0", 390, 1279),
    ],
}
KEPT = sorted(directory.name for directory in LOGS.iterdir() if directory.name not in LOST)


@pytest.mark.parametrize("logs", LOST)
def test_audit_finds_the_offsets_that_a_cluster_lost(logs):
    assert found(audited(LOGS / logs)) == LOST[logs]


@pytest.mark.parametrize("logs", KEPT)
def test_audit_finds_nothing_in_the_logs_of_a_cluster_that_kept_all_records(logs):
    assert found(audited(LOGS / logs)) == []


# As in https://github.com/Yolean/kubernetes-kafka/issues/98 (Kafka 1.0, a broker that exits because it must not
# truncate) and https://github.com/strimzi/strimzi-kafka-operator/issues/2738 (2.4, with the thread at the end).
@pytest.mark.parametrize(
    ("logs", "broker", "events", "partitions"), [("pasted-1.0.0", 2, 3, 3), ("pasted-strimzi-2.4", 0, 2, 1)]
)
def test_audit_reads_log_lines_that_people_pasted_into_issues(logs, broker, events, partitions):
    audit = audited(LOGS / logs)

    assert (audit.brokers, audit.events, audit.partitions) == ((broker,), events, partitions)


def test_a_re_elected_leader_that_lost_nothing_is_a_danger_that_has_passed():
    (passed,) = audited(LOGS / "kept-late-4.3.1").passed

    assert (passed.what, passed.name, passed.leader_epoch) == ("re-elected-leader", "t-0", 3)


def test_an_unclean_election_that_lost_nothing_is_a_danger_that_has_passed():
    (passed,) = audited(LOGS / "unclean-4.3.1").passed

    assert (passed.what, passed.name) == ("unclean-election", "safe-0")


@pytest.mark.parametrize(
    ("logs", "cause"),
    [
        ("re-elected-leader-4.3.1", "remote_leo=kept"),
        ("re-elected-leader-3.9.2", "remote_leo=kept"),
        ("unclean-4.3.1", "unclean_leader_election=true"),
        ("unclean-3.9.2", "unclean_leader_election=true"),
        ("zookeeper-2.6.1", "unclean_leader_election=true"),
    ],
)
def test_the_schedule_from_log_lines_loses_the_record_in_the_model_of_their_release(logs, cause):
    audit = audited(LOGS / logs)
    (told,) = told_cases(audit.findings, audit.releases).values()

    assert told.at == len(told.case.events)
    assert told.because.startswith(f"Because of {cause}")
    assert told.protocol == f"kafka-{logs.rpartition('-')[2]}"


def test_the_evidence_of_a_finding_quotes_lines_of_the_logs():
    loss = audited(LOGS / "re-elected-leader-4.3.1").findings[0]

    for event in loss.evidence:
        with open(event.file, encoding="utf-8") as file:
            assert list(file)[event.line - 1].rstrip("\n") == event.text
    assert "high watermark 6" in loss.evidence[0].text
    assert "starts at leader epoch 4 from offset 4" in loss.evidence[1].text
