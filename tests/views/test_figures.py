"""Drawings in files: each has the content of the terminal, and is valid in its format for any schedule."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.harness.trace.scenes import narrate
from epochfuzz.harness.trace.story import most_contrasting, story_of
from epochfuzz.harness.views import itf, tla
from epochfuzz.harness.views.drawings import captions, mermaid, panel, svg
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import alphabet, parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, parse_protocol

CORPUS = Path(__file__).parents[2] / "corpus"
SHORTEST_LOSS = "produce A, fetch B, receive B, fetch B, crash B, restart B, elect B, notify B, notify B"
DIVERGENCE = (
    "produce A, fetch B, receive B, fetch B, receive B, expire B, notify A, produce A, crash A, elect B, catch_up B,"
    " produce B"
)
ANY_SCHEDULE = st.lists(st.sampled_from(alphabet(3)), max_size=25).map(bytes)

# Every line of our sequence diagrams in Mermaid matches this expression.
STATEMENT = re.compile(
    r"sequenceDiagram|participant \w+( as [\w ]+)?|note over \w(,\w)?: [^;#]+|\w+(->>|-->>|--x)\w+: [^;#]+"
    r"|(alt|else) under [\w:=,.-]+|end"
)


def run(schedule: str, protocol: str = "hw", **configuration: Any) -> Run:
    return replay(parse_schedule(schedule.split(", ")), parse_protocol(protocol), Configuration(**configuration))


def shapes(scene) -> list[str]:
    """Return the classes of the elements in the drawing of a scene, in order."""
    return [element.get("class", "") for element in panel.panel(scene, 3).iter() if element.tag != "text"]


def texts(root: ET.Element) -> str:
    return " ".join("".join(element.itertext()) for element in root.iter() if element.tag.endswith("text"))


def test_a_committed_record_above_its_replicas_high_watermark_has_a_double_edge():
    leader, follower = narrate(run(SHORTEST_LOSS))[4].replicas
    assert (leader.high_watermark, follower.high_watermark) == (1, 0)
    drawn = shapes(narrate(run(SHORTEST_LOSS))[4])
    assert (drawn.count("box below"), drawn.count("box promised"), drawn.count("box promised inner")) == (1, 1, 1)


def test_a_truncated_record_is_crossed_out():
    assert shapes(narrate(run(SHORTEST_LOSS))[8]).count("box cut") == 1
    assert shapes(narrate(run(SHORTEST_LOSS))[8]).count("cross") == 2


def test_a_lost_record_is_drawn_as_missing():
    assert "missing" not in shapes(narrate(run(SHORTEST_LOSS))[8])
    assert shapes(narrate(run(SHORTEST_LOSS))[9]).count("missing") == 1


def test_the_controllers_line_marks_a_lost_record():
    before, after = (texts(panel.panel(narrate(run(SHORTEST_LOSS))[event], 3)) for event in (8, 9))
    assert "committed m0" in before
    assert "committed !m0" in after


def test_an_overwritten_record_is_drawn_as_missing_next_to_its_replacement():
    drawn = shapes(narrate(run(DIVERGENCE, unclean_leader_election=True))[12])
    assert (drawn.count("missing"), drawn.count("box below")) == (2, 4)


def test_a_stale_leader_has_another_badge_than_a_leader():
    drawn = shapes(narrate(run(SHORTEST_LOSS))[9])
    assert (drawn.count("leader"), drawn.count("zombie")) == (1, 1)


def test_the_svg_contains_the_texts_of_the_terminal():
    said = texts(ET.fromstring(svg.drawing(story_of(run(SHORTEST_LOSS), run(SHORTEST_LOSS, "kip-101")), "the loss")))
    for text in (
        "the loss",
        "hw breaks no-committed-loss at step 9",
        "kip-101 keeps every guarantee",
        "They part at step 8, notify B.",
        "here they part",
        "controller at e1: B leads, ISR A,B, committed !m0",
        "BROKEN: no-committed-loss, no-acked-loss",
    ):
        assert text in said


def test_a_step_that_two_protocols_have_in_common_is_drawn_once():
    alone = svg.drawing(story_of(run(SHORTEST_LOSS)), "alone").count("panel")
    compared = svg.drawing(story_of(run(SHORTEST_LOSS), run(SHORTEST_LOSS, "kip-101")), "compared").count("panel")
    assert (alone, compared - alone) == (9 + 1, 2)  # and once in the style sheet's first comment


@pytest.mark.parametrize("text", ["</style><script>", "&amp;", "\"'"])
def test_an_svg_escapes_markup_in_its_title(text):
    root = ET.fromstring(svg.drawing(story_of(run("produce A")), text))
    assert text in texts(root)
    assert [element.tag for element in root.iter() if element.tag.endswith("script")] == []


def test_the_last_protocol_that_breaks_and_the_first_that_holds_contrast_most():
    runs = [run(SHORTEST_LOSS, name) for name in GENERATIONS]
    assert [each.protocol.name for each in most_contrasting(runs)] == ["hw", "kip-101"]
    assert [each.protocol.name for each in most_contrasting(runs[1:])] == ["kip-101", "kip-279"]
    also_broken = run(SHORTEST_LOSS, "hw:isr_expansion=epoch_start")
    assert most_contrasting([runs[0], also_broken, runs[1]]) == (also_broken, runs[1])
    assert [each.protocol.name for each in most_contrasting(runs[:1])] == ["hw"]


def test_a_sequence_diagram_has_a_branch_for_each_protocol_after_the_protocols_part():
    lines = mermaid.sequence_diagram(story_of(run(SHORTEST_LOSS), run(SHORTEST_LOSS, "kip-101"))).splitlines()
    alternatives = [line.strip() for line in lines if line.strip().startswith(("alt", "else", "end"))]
    assert alternatives == ["alt under hw", "else under kip-101", "end"]
    assert "    B->>A: 2 fetch B" in lines
    assert "    A-->>B: m0, HW 0" in lines
    assert "        Controller->>B: 8 notify B" in lines
    assert (
        "        note over A,B: BROKEN: no-committed-loss, no-acked-loss"
        in lines[: lines.index("    else under kip-101")]
    )


def test_a_lost_response_is_drawn_as_an_arrow_that_does_not_arrive():
    assert "    A--xB: no records, HW 0" in mermaid.sequence_diagram(story_of(run("fetch B, drop B"))).splitlines()


def test_a_figure_of_selected_steps_lists_the_other_steps() -> None:
    story = story_of(run(SHORTEST_LOSS), run(SHORTEST_LOSS, "kip-101"))
    whole, some = (texts(ET.fromstring(svg.drawing(story, "the loss", steps))) for steps in (None, (4, 8)))
    named = some.replace("\u00a0", " ")
    assert "1 produce A, 2 fetch B, 3 receive B" in named
    assert "9 notify B" in named
    assert ("A appends m0" in whole, "A appends m0" in some) == (True, False)
    assert "they part at step 8" in some.lower()


def itf_expression(value: Any) -> bool:
    """Return whether a value is an expression of Apalache's ADR 015: nothing is null, and a large number is text."""
    match value:
        case bool() | str():
            return True
        case int():
            return abs(value) < 1 << 53
        case list():
            return all(map(itf_expression, value))
        case {"#set": list(items), **others} | {"#tup": list(items), **others}:
            return not others and all(map(itf_expression, items))
        case {"#map": list(pairs), **others}:
            return not others and all(len(pair) == 2 and all(map(itf_expression, pair)) for pair in pairs)
        case {"#bigint": str(digits), **others}:
            return not others and re.fullmatch(r"-?[0-9]+", digits) is not None
        case dict():
            return all(not key.startswith("#") and itf_expression(item) for key, item in value.items())
    return False


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", ["m1-loss", "re-elected-leader", "consumer-over-leader-change", "kafka-6082-two-controllers"]
)
def test_every_state_of_an_itf_trace_has_a_valid_value_for_each_variable(name: str) -> None:
    case = next(each for each in load_corpus([CORPUS]) if each.id == name)
    for protocol in map(parse_protocol, case.protocols):
        trace = json.loads(itf.trace(replay(case.events, protocol, case.settings), name))
        assert {"#meta", "vars", "states"} == trace.keys()
        assert len(set(trace["vars"])) == len(trace["vars"])
        assert len(trace["states"]) == len(case.events) + 1
        for number, state in enumerate(trace["states"]):
            assert state.pop("#meta") == {"index": number}
            assert [*state] == trace["vars"]
            assert [key for key, value in state.items() if not itf_expression(value)] == []


def test_an_itf_trace_has_the_variables_of_the_tla_trace() -> None:
    loss = run(SHORTEST_LOSS)
    trace = json.loads(itf.trace(loss, "m0-loss"))
    assert trace["#meta"]["format"] == "ITF"
    assert [state["#meta"]["index"] for state in trace["states"]] == list(range(10))
    assert all([*state] == ["#meta", *trace["vars"]] for state in trace["states"])
    lost = trace["states"][9]
    assert lost["log"] == {"#map": [["A", [{"record": "m0", "epoch": 0}]], ["B", []]]}
    assert lost["committed"] == {"#set": ["m0"]}
    assert lost["broken"] == {"#set": ["no-acked-loss", "no-committed-loss"]}
    assert lost["controller"]["leader"] == "B"
    module = tla.trace_module("m0-loss", "", [loss])
    assert all(f"{name} |->" in module for name in trace["vars"])


def test_a_tla_trace_has_a_state_for_the_start_and_for_each_event():
    module = tla.trace_module("m0-loss", "Why it matters.", [run(SHORTEST_LOSS), run(SHORTEST_LOSS, "kip-101")])
    lines = module.splitlines()
    assert lines[0].strip("-") == " MODULE m0_loss "
    assert [line for line in lines if line.startswith("ASSUME")] == [
        "ASSUME WellFormed(hw)",
        "ASSUME Loses(hw)",
        "ASSUME WellFormed(kip_101)",
        "ASSUME ~Loses(kip_101)",
    ]
    assert sum("[event |->" in line for line in lines) == 2 * (9 + 1)
    assert '     log |-> [A |-> <<[record |-> "m0", epoch |-> 0]>>, B |-> <<>>],' in lines
    assert '     controller |-> [leader |-> "B", epoch |-> 1, isr |-> {"A", "B"}],' in lines
    assert "    \\* 9 notify B: B becomes leader of epoch 1; m0 is lost: it was readable on A at offset 0, and" in lines


def test_a_figure_marks_the_texts_that_a_step_changed():
    scenes = narrate(run("produce A, fetch B, receive B, elect B"))
    figures = [[*ET.fromstring(svg.figure(scene, 1)).iter()] for scene in scenes]
    changed = [[each.text for each in figure if "changed" in each.get("class", "").split()] for figure in figures]
    assert changed == [
        [],
        ["LEO 0\u21921"],
        ["remote LEO B 0", "m0, HW 0"],
        ["LEO 0\u21921"],
        ["controller at e1: B leads, ISR A,B", "leads", "e0 (zombie)"],
    ]


def test_drawings_of_broken_convergence_end_with_the_state_after_all_faults_have_stopped():
    schedule = "produce A, elect B, notify B, produce B, elect A, catch_up A, produce A"
    story = story_of(run(schedule, "kip-101"), run(schedule))
    said = texts(ET.fromstring(svg.drawing(story, "unequal")))
    assert "healed" in said
    assert "\u2716 BROKEN: convergence" in said
    kip_101 = mermaid.sequence_diagram(story).partition("else under hw")[0]
    assert "note over A,B: healed: All faults stop" in kip_101
    assert kip_101.splitlines()[-2].strip() == "note over A,B: BROKEN: convergence"


@settings(max_examples=40, deadline=None)
@given(ANY_SCHEDULE, st.sampled_from(sorted(GENERATIONS)))
def test_drawings_of_any_schedule_are_valid(schedule, protocol):
    hw, other = (replay(schedule, GENERATIONS[name], Configuration(replicas=3)) for name in ("hw", protocol))
    said = texts(ET.fromstring(svg.drawing(story_of(hw, other), "any")))
    diagram = mermaid.sequence_diagram(story_of(hw, other)).splitlines()
    module = tla.trace_module("any", "", [hw, other])
    code = "\n".join(line.partition("\\*")[0] for line in module.splitlines())
    assert all(f"{i}  " in said for i in range(1, len(schedule) + 1))
    assert [line for line in diagram if not STATEMENT.fullmatch(line.strip())] == []
    assert all(code.count(opening) == code.count(closing) for opening, closing in ("[]", "{}", ("<<", ">>"), "()"))


# Drawings of states that KRaft has and ZooKeeper does not have.

PENDING = "produce A, fetch B, receive B, expire B, unfence B, notify A, expire B, expand B"


def test_a_pending_isr_is_drawn_at_the_leader_until_the_response_arrives():
    *_, asked, answered, taken_back = narrate(run(f"{PENDING}, alter A, altered A", "kip-966", min_insync_replicas=2))
    arrows = [
        [element.get("d", "")[:3] for element in panel.panel(each, 3).iter() if element.get("class") == "arrow"]
        for each in (asked, answered, taken_back)
    ]
    said = [texts(panel.panel(each, 3)) for each in (asked, answered, taken_back)]
    assert ["pending ISR A,B" in each for each in said] == [True, True, False]
    assert "AlterPartition A,B" in said[0]
    assert "ISR A,B ineligible" in said[1]
    assert [len(each) for each in arrows] == [1, 1, 0]
    assert arrows[0] != arrows[1]  # the request leaves the leader, the response arrives there


def test_a_panel_shows_fenced_and_eligible_replicas_and_the_last_known_leader():
    *_, fenced, leaderless = narrate(run(f"{PENDING}, expire A", "kip-966", min_insync_replicas=2))
    assert texts(panel.panel(fenced, 3)).count("fenced") == 1
    said = texts(panel.panel(leaderless, 3))
    assert "controller at e1: no leader, ISR empty" in said
    assert "ELR A,B, last led by A" in said
    assert said.count("fenced") == 2


def test_a_panel_is_higher_only_if_it_shows_eligible_leader_replicas():
    before = narrate(run("produce A, fetch B", "kip-320", power_loss=True))
    after = narrate(run(f"{PENDING}, expire A", "kip-966", min_insync_replicas=2))
    assert {panel.height(each) for each in before} == {panel.height(after[0])}
    assert panel.height(after[-1]) > panel.height(after[0])


def test_a_sequence_diagram_has_an_arrow_for_each_message_of_a_change_of_the_isr():
    schedule = f"{PENDING}, alter A, resend A, unfence B"
    diagram = mermaid.sequence_diagram(story_of(run(schedule, "kip-966", min_insync_replicas=2)))
    for arrow in ("A->>Controller: AlterPartition A,B", "Controller--xA: ISR A,B ineligible", "B->>Controller: 11"):
        assert arrow in diagram


def test_a_response_that_arrives_after_an_election_is_drawn_from_its_sender():
    schedule = "produce A, elect B, notify A, notify B, fetch A, crash B, elect A, notify A, receive A"
    last = run(schedule, "kip-595:late_answer=diverging_any")
    assert "B-->>A: diverges, e0 ends at 0" in mermaid.sequence_diagram(story_of(last))
    assert "diverges, e0 ends at 0 from B" in texts(panel.panel(narrate(last)[8], 3))  # in two lines


def test_a_tla_trace_has_only_the_fields_of_its_protocol():
    modern, older = (tla.trace_module("m", "", [run("produce A", each)]) for each in ("kip-966", "kip-320"))
    for field in ("pendingIsr", "alterPartition", "elr", "lastKnownLeader", "fenced"):
        assert f"{field} |->" in modern
        assert f"{field} |->" not in older


def test_a_permitted_loss_is_a_loss_in_the_tla_trace():
    schedule = (
        "produce A, fetch B, receive B, fetch B, power_loss B, restart B, expire B, register B, power_loss A,"
        " restart A, expire A, register A, notify A, unfence A, elect A, notify A"
    )
    permitted = run(schedule, "kip-966", power_loss=True, min_insync_replicas=2)
    assert not permitted.first_broken
    assert captions.verdict(permitted) == "loses m0 at step 16, as KIP-966 permits by then"
    assert "ASSUME Loses(kip_966)" in tla.trace_module("m", "", [permitted])
