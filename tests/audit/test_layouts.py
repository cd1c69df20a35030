"""One log in every usual layout and in random layouts: audit has equal findings."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epochfuzz.harness.audit.lines.line import seen_in
from epochfuzz.harness.audit.lines.wordings import NEEDLES
from tests.audit.collected import LINES, write
from tests.audit.telling import audited, found

FINDINGS = [
    ("committed-loss", "shop.carts-0", 31000, 57999),
    ("unclean-election", "shop.carts-0", None, None),
    ("truncated-below-high-watermark", "shop.carts-0", 31000, 57999),
]


@pytest.fixture(scope="module")
def directories(tmp_path_factory):
    return {directory.name: directory for directory in write(tmp_path_factory.mktemp("collected"))}


def test_audit_finds_the_loss_in_every_layout(directories):
    wrong = {name: found(audited(directory)) for name, directory in directories.items()}

    assert len(directories) >= 46
    assert {name: findings for name, findings in wrong.items() if findings != FINDINGS} == {}


def test_audit_reads_all_lines_in_every_layout_and_names_the_layout(directories):
    for name, directory in directories.items():
        audit = audited(directory)

        assert (audit.events, sum(audit.layouts.values())) == (10, audit.files), name
        assert all("%m" in layout for layout in audit.layouts), (name, audit.layouts)
        assert not any("could not be read" in gap or "left out" in gap for gap in audit.gaps), (name, audit.gaps)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=30)
TIMES = st.sampled_from(
    ("", "2026-09-04 03:00:00,101", "2026-09-04T03:00:00.101Z", "Sep  4 03:00:00", "03:00:00.101", "1788490800101")
)
ENVELOPES = st.sampled_from(
    (
        lambda line: line,
        lambda line: json.dumps({"log": line + "\n"}),
        lambda line: json.dumps({"a": {"event": {"original": line}}, "time": "2026-09-04T03:00:00Z"}),
        lambda line: json.dumps([["1788490800101000000", line]]),
        lambda line: "x " + json.dumps({"message": json.dumps({"msg": line})}),
    )
)


@given(st.sampled_from(LINES), WORDS, TIMES, WORDS, ENVELOPES, st.sampled_from(("", " ", " (kafka.x.Y)", '"', " | a")))
@settings(max_examples=300, deadline=None)
def test_audit_reads_a_line_with_any_text_around_its_message(line, before, time, thread, envelope, behind):
    written = f"{before} {time} {thread} {line.message}{behind}"
    if any(needle in before + thread for needle in NEEDLES):
        return
    (seen,), failed = seen_in(envelope(written), NEEDLES, lambda: "")

    assert failed == 0
    assert seen.message.said["topic"] == "shop.carts"
    assert seen.message.said.get("offset") in (None, 0, 31000, 58000)
    if "2026" in time and not any(c.isdigit() or c == ":" for c in before + thread):
        assert seen.time // 1000 == 1788490800


def test_lines_of_equal_times_keep_the_order_of_their_file(tmp_path):
    seconds = [f"2026-09-04 03:11:50 INFO {each.message}" for each in LINES if each.broker == 1]
    (tmp_path / "kafka-1.log").write_text("\n".join(seconds) + "\n")
    (tmp_path / "kafka-2.log").write_text(
        "\n".join(f"2026-09-04 03:11:50 INFO {each.message}" for each in LINES if each.broker == 2) + "\n"
    )

    assert found(audited(tmp_path)) == FINDINGS


def test_audit_orders_rotated_files_without_dates_by_their_number(tmp_path):
    own = [f"INFO {each.message}\n" for each in LINES if each.broker == 1]
    for number, text in enumerate(("".join(own[5:]), "".join(own[2:5]), "".join(own[:2]))):
        (tmp_path / f"kafka-1.log{'.' * bool(number)}{number or ''}").write_text(text)
    (tmp_path / "kafka-2.log").write_text("".join(f"INFO {each.message}\n" for each in LINES if each.broker == 2))
    audit = audited(tmp_path)

    assert found(audit) == FINDINGS
    assert [event.line for event in audit.findings[0].evidence if event.file.endswith("log.2")] == []


def test_the_option_broker_finds_the_broker_number_before_a_line(tmp_path):
    line = "[UnifiedLog partition=t-0, dir=/d] Truncating to offset 3"
    (tmp_path / "all.log").write_text("".join(f"node{b}-x | 2026-09-04 03:00:00 {line}\n" for b in (4, 5)))

    assert any("does not name" in gap or "do not name" in gap for gap in audited(tmp_path).gaps)
    assert not any("not name the broker" in gap for gap in audited(tmp_path, broker="node([0-9])").gaps)


def test_audit_does_not_guess_the_broker_of_a_container_from_another_container(tmp_path):
    lines = [
        "kafka-1  | [2026-09-04 03:00:00,000] INFO [Partition t-0 broker=1] ISR updated to 1  and version updated to 5",
        "kafka-2  | [2026-09-04 03:00:01,000] INFO [UnifiedLog partition=t-0, dir=/d] Truncating to offset 3",
    ]
    (tmp_path / "all.log").write_text("\n".join(lines))

    assert any("1 line of partitions does not name the broker" in gap for gap in audited(tmp_path).gaps)


def test_reading_a_line_with_damaged_characters_raises_no_error():
    draw = random.Random(1)
    for line in LINES:
        for _ in range(200):
            written = list(line.own)
            for _ in range(draw.randrange(1, 5)):
                written[draw.randrange(len(written))] = chr(draw.choice((*range(32, 127), 0, 27, 0xFFFD, 0x1F600)))
            seen_in("".join(written), NEEDLES, lambda: "")
