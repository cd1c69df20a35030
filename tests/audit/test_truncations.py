"""Truncations below a high watermark that the replica itself showed: from the file of one broker, on every release."""

import re

import pytest

from epochfuzz.harness.audit.lines import wordings
from epochfuzz.harness.audit.lines.events import MessageKind
from tests.audit.telling import LOGS, audited, cuts, follows, found, leads, stamped, told

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
    """A line in the wording of a release, None if it had none."""
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
def test_the_file_of_the_broker_that_truncated_shows_it(tmp_path, release):
    follower = line(MessageKind.FOLLOWER, release, offset=1724, high_watermark=1707)
    lines = [
        f"[Partition t-0 broker=1] {line(MessageKind.LOADED, release, high_watermark=1707)}",
        *([] if follower is None else [f"[Broker id=1] {follower}"]),
        line(MessageKind.TRUNCATION, release, offset=550),
        *filter(None, [line(MessageKind.NON_MONOTONIC, release, high_watermark=1710, offset=550)]),
    ]

    assert (follower is None) == (numbers(release) < [2, 6])
    assert told(tmp_path, {1: lines}) == [BELOW]


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
def test_the_file_of_one_broker_of_a_real_cluster(logs, broker, expected):
    assert found(audited(LOGS / logs / f"broker-{broker}.log")) == expected


def goes_back(known, offset):
    return (
        f"[UnifiedLog partition=t-0, dir=/d] Non-monotonic update of high watermark from (offset={known},"
        f" segment=[0:1]) to (offset={offset}, segment=[0:1]) (kafka.log.UnifiedLog)"
    )


def test_a_high_watermark_that_was_learned_after_the_election_does_not_count(tmp_path):
    assert told(tmp_path, {1: [follows(1, 2, 8, 385, 384), cuts(384), goes_back(385, 384)]}) == []


def test_a_high_watermark_of_which_no_line_says_when_it_was_reached_is_a_gap(tmp_path):
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / "server.log").write_text(stamped([cuts(384), goes_back(385, 384)]))
    audit = audited(tmp_path, broker="broker-([0-9])")

    assert audit.findings == []
    assert any("no line shows whether it had reached that before the last election" in gap for gap in audit.gaps)


def test_a_second_truncation_removes_what_the_first_has_left(tmp_path):
    lines = [follows(1, 2, 3, 2600, 2512), cuts(772), follows(1, 3, 4, 772, 772), cuts(390)]

    assert told(tmp_path, {1: lines}) == [
        ("truncated-below-high-watermark", "t-0", 772, 2511),
        ("truncated-below-high-watermark", "t-0", 390, 771),
    ]


def test_a_log_that_was_made_again_has_no_high_watermark_of_its_own(tmp_path):
    made = "Created log for partition t-0 in /new/t-0 with properties {} (kafka.log.LogManager)"

    assert told(tmp_path, {1: [follows(1, 2, 3, 90, 90), made, cuts(5)]}) == []


def test_followers_that_print_a_wrong_epoch_and_lines_of_the_metadata_log_are_noted(tmp_path):
    wrong = follows(1, 2, 3, 9, 9, before=3)
    (tmp_path / "server.log").write_text(stamped([wrong, cuts(9, "__cluster_metadata-0"), leads(1, 4, 9)]))
    audit = audited(tmp_path)

    assert any(
        "1 line of followers prints the new leader epoch as the previous one (KAFKA-19776)" in n for n in audit.notes
    )
    assert any("1 line of __cluster_metadata was left out on purpose, because KRaft" in note for note in audit.notes)
    assert audit.partitions == 1
