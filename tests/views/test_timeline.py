"""The timeline of a run on a terminal, complete in every width, without colour, and in ASCII."""

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.harness.trace.scenes import narrate
from epochfuzz.harness.views.drawings import captions
from epochfuzz.harness.views.terminal import side_by_side, timeline
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import alphabet, parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, parse_protocol
from tests.views.narrating import scenes

SHORTEST_LOSS = "produce A, fetch B, receive B, fetch B, crash B, restart B, elect B, notify B, notify B"
COMMITTED = "produce A, fetch B, receive B, fetch B, receive B"
DIVERGENCE = f"{COMMITTED}, expire B, notify A, produce A, crash A, elect B, catch_up B, produce B"

UNEQUAL = "produce A, elect B, notify B, produce B, elect A, catch_up A, produce A"


def run(schedule: str, protocol: str = "hw", **configuration: Any) -> Run:
    return replay(parse_schedule(schedule.split(", ")), parse_protocol(protocol), Configuration(**configuration))


def printed(renderable: RenderableType, width: int = 100) -> list[str]:
    """Return the lines that a pipe receives."""
    output = io.StringIO()
    Console(file=output, width=width).print(renderable)
    return [line.rstrip() for line in output.getvalue().splitlines()]


def words(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def step(lines: list[str], number: int) -> list[str]:
    """Return the lines of a step, from the line with its number to the next rule."""
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{number} "))
    end = next(i for i, line in enumerate(lines[start:], start) if line.startswith(("\u2500", "=")))
    return lines[start:end]


def test_a_step_shows_each_log_the_controller_and_a_sentence():
    assert step(printed(timeline(run(SHORTEST_LOSS))), 4) == [
        "4 fetch B    A leads e0                         B follows A, e0                   controller at e0",
        "             e0[m0]                             e0{m0}                            A leads, ISR A,B",
        "             LEO 1 HW 0->1                      LEO 1 HW 0                        committed m0",
        "             remote LEO B 1                     <- no records, HW 1",
        "             B's fetch from offset 1 shows A that B has everything below it; A responds with no",
        "             records and HW 1; A's HW rises to 1; m0 is committed and acknowledged.",
    ]


def test_a_step_shows_two_protocols_side_by_side_if_they_differ():
    lines = printed(side_by_side(run(SHORTEST_LOSS), run(SHORTEST_LOSS, "kip-101")))
    assert step(lines, 9) == [
        "9 notify B   A leads e0 (zombie)  B leads e1            \u2502 A leads e0 (zombie)  B leads e1",
        "             e0[m0]               !m0                   \u2502 e0[m0]               e0{m0}",
        "             LEO 1 HW 1           LEO 0 HW 0            \u2502 LEO 1 HW 1           LEO 1 HW 0",
        "             remote LEO B 1                             \u2502 remote LEO B 1",
        "             controller at e1: B leads, ISR A,B,        \u2502 controller at e1: B leads, ISR A,B,",
        "             committed !m0                              \u2502 committed m0",
        "             B becomes leader of epoch 1; m0 is lost:   \u2502 B becomes leader of epoch 1.",
        "             it was readable on A at offset 0, and      \u2502",
        "             leader B does not have it.                 \u2502",
        "             BROKEN: no-committed-loss, no-acked-loss   \u2502",
    ]


def test_the_steps_before_two_protocols_part_are_drawn_once():
    alone = printed(timeline(run(SHORTEST_LOSS)))
    compared = printed(side_by_side(run(SHORTEST_LOSS), run(SHORTEST_LOSS, "kip-101")))
    assert [step(alone, number) for number in range(1, 8)] == [step(compared, number) for number in range(1, 8)]


def test_the_step_where_two_protocols_part_is_marked_and_explained():
    lines = printed(side_by_side(run(SHORTEST_LOSS), run(SHORTEST_LOSS, "kip-101")))
    assert lines[2] == "They part at step 8, notify B."
    assert "Under hw: B truncates m0: its high watermark was 0, although m0 was committed on A;" in words(lines)
    assert "Under kip-101: B keeps m0, beyond its high watermark 0, and will ask A where epoch 0 ends" in words(lines)
    (mark,) = (i for i, line in enumerate(lines) if " here they part " in line)
    assert lines[mark + 2].startswith("8 notify B")


def test_a_comparison_says_that_two_equal_runs_do_not_differ():
    lines = printed(side_by_side(run(COMMITTED), run(COMMITTED, "kip-101")))
    assert lines[:3] == ["hw keeps every guarantee", "kip-101 keeps every guarantee", "The runs do not differ."]


def test_a_comparison_says_if_two_protocols_differ_only_in_convergence():
    lines = printed(side_by_side(run(UNEQUAL, "kip-101"), run(UNEQUAL)))
    assert lines[0] == "kip-101 breaks convergence after step 7"
    assert "The runs do not differ in these steps. Convergence is checked later" in lines[2]


def test_a_run_that_breaks_convergence_ends_with_the_state_after_all_faults_have_stopped():
    lines = printed(timeline(run(UNEQUAL, "kip-101")))
    start = next(i for i, line in enumerate(lines) if line.startswith("  healed"))
    ending = lines[start : start + 7]
    assert "e1[m1] !m0 e2+[m2]" in ending[1]
    assert "until nothing changes; at offset 0 A has m0 and B has m1." in words(ending)
    assert ending[-1].strip() == "BROKEN: convergence"


def test_a_run_that_converges_ends_with_its_last_step():
    assert [line for line in printed(timeline(run(UNEQUAL))) if "healed" in line] == []


@pytest.mark.parametrize(
    ("schedule", "configuration", "verdict"),
    [
        (COMMITTED, {}, "hw keeps every guarantee"),
        (SHORTEST_LOSS, {}, "hw breaks no-committed-loss at step 9, no-acked-loss at step 9, isr-complete at step 8"),
        ("produce A, elect B, notify B", {"acks": "1"}, "hw breaks no-acked-loss at step 3, as acks=1 permits"),
    ],
)
def test_the_first_line_names_the_broken_properties_and_their_steps(schedule, configuration, verdict):
    assert printed(timeline(run(schedule, **configuration)))[0] == verdict


def test_an_event_that_is_not_enabled_shows_the_reason_and_no_drawing():
    lines = printed(timeline(run("crash B, fetch B, restart B")))
    assert step(lines, 2) == ["2 fetch B    Not enabled: B is down."]


def test_each_of_two_diverging_logs_shows_the_other_record_as_missing():
    logs = step(printed(timeline(run(DIVERGENCE, unclean_leader_election=True))), 12)[1]
    assert logs.split("  ")[0] == ""
    assert "e0[m0] e1[m1] !m2" in logs
    assert "e0[m0] e3+[m2] !m1" in logs.replace("e2", "e3")


def test_a_truncated_record_is_shown_at_its_former_place():
    schedule = f"{COMMITTED}, produce A, fetch B, receive B, fetch B, crash B, restart B, notify B"
    assert "e0[m0] -{m1}" in step(printed(timeline(run(schedule))), 12)[1]


def test_flushed_and_checkpointed_offsets_are_shown_if_faults_can_undo_them():
    lines = printed(timeline(run("produce A, flush A", power_loss=True, asynchronous_checkpoint=True)))
    assert "LEO 1 HW 0" in step(lines, 2)[2]
    assert "flushed 1 checkpoint 0" in step(lines, 2)[3]


def test_every_shape_of_a_record_is_drawn_without_colour():
    pictures = [
        printed(timeline(run(DIVERGENCE, unclean_leader_election=True))),
        printed(timeline(run(SHORTEST_LOSS))),
    ]
    for shape in ("+(m0)", "(m0)", "{m0}", "[m0]", "-{m0}", "!m0"):
        assert any(shape in line for picture in pictures for line in picture[2:-2])


def test_an_empty_schedule_has_a_timeline():
    empty = replay(b"", parse_protocol("hw"), Configuration())
    assert words(printed(timeline(empty))).startswith("hw keeps every guarantee Start: All replicas are up")


@pytest.mark.parametrize("protocol", ["hw", "kip-320"])
def test_two_protocols_with_three_replicas_fit_into_100_columns(protocol):
    schedule = SHORTEST_LOSS.replace("fetch B, crash", "fetch C, receive C, fetch C, fetch B, crash")
    lines = printed(side_by_side(run(schedule, "hw", replicas=3), run(schedule, protocol, replicas=3)))
    assert max(map(len, lines)) <= 100


def test_a_console_that_knows_only_ascii_shows_a_timeline():
    output = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    long_name = run(SHORTEST_LOSS, "kip-101:truncate_when=each_epoch,isr_expansion=epoch_start")
    Console(file=output, width=100).print(side_by_side(run(SHORTEST_LOSS), long_name))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 5),
    st.lists(st.sampled_from(alphabet(5)), max_size=40).map(bytes),
    st.sampled_from(sorted(GENERATIONS)),
    st.sampled_from([60, 80, 100]),
)
def test_a_timeline_of_any_schedule_has_whole_sentences_and_fits_the_width(replicas, schedule, protocol, width):
    hw, other = (replay(schedule, GENERATIONS[name], Configuration(replicas=replicas)) for name in ("hw", protocol))
    lines = printed(timeline(other), width)
    assert [scene.sentence for scene in narrate(other) if scene.sentence not in words(lines)] == []
    assert max(map(len, lines + printed(side_by_side(hw, other), width))) <= width


def test_only_the_leader_shows_log_end_offsets_of_other_replicas():
    last = scenes("produce A, fetch B, receive B, fetch B", "kip-320", replicas=3)[-1]
    assert [replica.remote_leos for replica in last.replicas] == [(("B", 1),), (), ()]


def test_the_remote_log_end_offsets_of_four_followers_take_two_lines():
    fetches = ", ".join(f"fetch {name}" for name in "BCDE")
    leader = scenes(f"produce A, {fetches}", "kip-320", replicas=5)[-1].replicas[0]
    assert captions.remote_leos(leader) == ["remote LEO B 0, C 0", "D 0, E 0"]
