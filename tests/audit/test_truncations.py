"""Truncations below the replica's own high watermark, from the log of one broker, on every release."""

import re

import pytest

from epochfuzz.harness.audit.lines import wordings
from epochfuzz.harness.audit.lines.events import MessageKind
from tests.audit.telling import LOGS, audited, findings_of, follows, found, leads, stamped, truncates

RELEASES = (
    *("2.4.1", "2.5.1", "2.6.3", "2.7.2", "2.8.2", "3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.4.1", "3.5.2", "3.6.2"),
    *("3.7.2", "3.8.1", "3.9.2", "4.0.1", "4.1.2", "4.2.0", "4.3.1", "4.4.0"),
)
VALUES = {
    "partition": "t-0",
    "leader": "2",
    "previous_leader": "None",
    "previous_epoch": "-1",
    "leader_epoch": "3",
    "partition_epoch": "6",
    "name": "Log",
    "dir": "/d",
    "any": ", segment=[0:1]",
}
BELOW = ("truncated-below-high-watermark", "t-0", 550, 1706)


def numbers(release):
    return [int(number) for number in release.split(".")]


def line(kind, release, **values):
    """Return a line in the wording of a release, None if the release has no such wording."""
    for wording in wordings.WORDINGS:
        newest = numbers(wording.until) if wording.until else [99]
        if wording.kind == kind and numbers(wording.since) <= numbers(release) <= newest:
            said = VALUES | {name: str(value) for name, value in values.items()}
            text = wording.template
            for name in re.findall(r"\{(\w+)\}", text):
                text = text.replace(f"{{{name}}}", said[name])
            return f"{text} (kafka.x.Y)"
    return None


@pytest.mark.parametrize("release", RELEASES)
def test_the_log_of_a_broker_shows_its_truncation_below_the_high_watermark(tmp_path, release):
    follower = line(MessageKind.FOLLOWER, release, offset=1724, high_watermark=1707)
    lines = [
        f"[Partition t-0 broker=1] {line(MessageKind.LOADED, release, high_watermark=1707)}",
        *([] if follower is None else [f"[Broker id=1] {follower}"]),
        line(MessageKind.TRUNCATION, release, offset=550),
        *filter(None, [line(MessageKind.NON_MONOTONIC, release, high_watermark=1710, offset=550)]),
    ]

    assert (follower is None) == (numbers(release) < [2, 6])
    assert findings_of(tmp_path, {1: lines}) == [BELOW]


@pytest.mark.parametrize(
    ("logs", "broker", "expected"),
    [
        ("unclean-3.9.2", 3, [("truncated-below-high-watermark", "lossy-0", 550, 1706)]),
        ("zookeeper-2.8.2", 1, [("unclean-election", "lossy-0", None, None)]),
        ("zookeeper-2.8.2", 2, [("truncated-below-high-watermark", "lossy-0", 390, 1279)]),
        ("re-elected-leader-3.9.2", 1, [("truncated-below-high-watermark", "t-0", 4, 5)]),
        ("reassigned-3.3.2", 2, []),
        ("kept-heard-of-it-4.3.1", 1, []),
        ("kept-repaired-4.3.1", 1, []),
    ],
)
def test_the_log_of_one_broker_of_a_real_cluster_has_the_expected_findings(logs, broker, expected):
    assert found(audited(LOGS / logs / f"broker-{broker}.log")) == expected


def goes_back(known, offset):
    return (
        f"[UnifiedLog partition=t-0, dir=/d] Non-monotonic update of high watermark from (offset={known},"
        f" segment=[0:1]) to (offset={offset}, segment=[0:1]) (kafka.log.UnifiedLog)"
    )


def test_a_high_watermark_that_was_learned_after_the_election_shows_no_loss(tmp_path):
    assert findings_of(tmp_path, {1: [follows(1, 2, 8, 385, 384), truncates(384), goes_back(385, 384)]}) == []


def test_a_high_watermark_without_a_line_that_shows_when_it_was_reached_is_a_gap(tmp_path):
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / "server.log").write_text(stamped([truncates(384), goes_back(385, 384)]))
    audit = audited(tmp_path, broker="broker-([0-9])")

    assert audit.findings == []
    assert any("no line shows whether it had reached that before the last election" in gap for gap in audit.gaps)


def test_two_truncations_in_a_row_are_two_findings_without_overlap(tmp_path):
    lines = [follows(1, 2, 3, 2600, 2512), truncates(772), follows(1, 3, 4, 772, 772), truncates(390)]

    assert findings_of(tmp_path, {1: lines}) == [
        ("truncated-below-high-watermark", "t-0", 772, 2511),
        ("truncated-below-high-watermark", "t-0", 390, 771),
    ]


def test_a_truncation_of_a_recreated_log_shows_no_loss(tmp_path):
    made = "Created log for partition t-0 in /new/t-0 with properties {} (kafka.log.LogManager)"

    assert findings_of(tmp_path, {1: [follows(1, 2, 3, 90, 90), made, truncates(5)]}) == []


def test_audit_notes_followers_that_print_a_wrong_epoch_and_lines_of_the_metadata_log(tmp_path):
    wrong = follows(1, 2, 3, 9, 9, before=3)
    (tmp_path / "server.log").write_text(stamped([wrong, truncates(9, "__cluster_metadata-0"), leads(1, 4, 9)]))
    audit = audited(tmp_path)

    assert any(
        "1 line of followers prints the new leader epoch as the previous one (KAFKA-19776)" in n for n in audit.notes
    )
    assert any("1 line of __cluster_metadata was left out on purpose, because KRaft" in note for note in audit.notes)
    assert audit.partitions == 1
