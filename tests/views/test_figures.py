"""Drawings that are files: each shows what the terminal shows, and is valid in its own format whatever happens."""

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

# Every line that Mermaid's sequence diagrams are made of here; the drawings use no other.
STATEMENT = re.compile(
    r"sequenceDiagram|participant \w+( as [\w ]+)?|note over \w(,\w)?: [^;#]+|\w+(->>|-->>|--x)\w+: [^;#]+"
    r"|(alt|else) under [\w:=,.-]+|end"
)


def run(schedule: str, protocol: str = "hw", **configuration: Any) -> Run:
    return replay(parse_schedule(schedule.split(", ")), parse_protocol(protocol), Configuration(**configuration))


def shapes(scene) -> list[str]:
    """The classes of what is drawn of a scene, in order."""
    return [element.get("class", "") for element in panel.panel(scene, 3).iter() if element.tag != "text"]


def texts(root: ET.Element) -> str:
    return " ".join("".join(element.itertext()) for element in root.iter() if element.tag.endswith("text"))


def test_a_record_below_the_high_watermark_is_solid_and_one_above_it_that_was_promised_is_double_edged():
    leader, follower = narrate(run(SHORTEST_LOSS))[4].replicas
    assert (leader.high_watermark, follower.high_watermark) == (1, 0)
    drawn = shapes(narrate(run(SHORTEST_LOSS))[4])
    assert (drawn.count("box below"), drawn.count("box promised"), drawn.count("box promised inner")) == (1, 1, 1)


def test_a_cut_record_is_crossed_out():
    assert shapes(narrate(run(SHORTEST_LOSS))[8]).count("box cut") == 1
    assert shapes(narrate(run(SHORTEST_LOSS))[8]).count("cross") == 2


def test_a_lost_record_is_an_octagon_where_it_belongs():
    assert "missing" not in shapes(narrate(run(SHORTEST_LOSS))[8])
    assert shapes(narrate(run(SHORTEST_LOSS))[9]).count("missing") == 1


def test_an_overwritten_record_is_marked_beside_the_one_in_its_place():
    drawn = shapes(narrate(run(DIVERGENCE, unclean_leader_election=True))[12])
    assert (drawn.count("missing"), drawn.count("box below")) == (2, 4)


def test_the_badge_of_a_zombie_is_not_that_of_a_leader():
    drawn = shapes(narrate(run(SHORTEST_LOSS))[9])
    assert (drawn.count("leader"), drawn.count("zombie")) == (1, 1)


def test_the_svg_says_what_the_terminal_says():
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
    beside = svg.drawing(story_of(run(SHORTEST_LOSS), run(SHORTEST_LOSS, "kip-101")), "beside").count("panel")
    assert (alone, beside - alone) == (9 + 1, 2)  # and once in the style sheet's first comment


@pytest.mark.parametrize("text", ["</style><script>", "&amp;", "\"'"])
def test_a_title_in_an_svg_is_text(text):
    root = ET.fromstring(svg.drawing(story_of(run("produce A")), text))
    assert text in texts(root)
    assert [element.tag for element in root.iter() if element.tag.endswith("script")] == []


def test_of_many_protocols_the_last_that_breaks_and_the_first_that_does_not_differ_most():
    runs = [run(SHORTEST_LOSS, name) for name in GENERATIONS]
    assert [each.protocol.name for each in most_contrasting(runs)] == ["hw", "kip-101"]
    assert [each.protocol.name for each in most_contrasting(runs[1:])] == ["kip-101", "kip-279"]
    also_broken = run(SHORTEST_LOSS, "hw:isr_expansion=epoch_start")
    assert most_contrasting([runs[0], also_broken, runs[1]]) == (also_broken, runs[1])
    assert [each.protocol.name for each in most_contrasting(runs[:1])] == ["hw"]


def test_a_sequence_diagram_goes_on_in_two_branches_where_the_protocols_part():
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


def test_an_answer_that_is_lost_is_an_arrow_that_does_not_arrive():
    assert "    A--xB: no records, HW 0" in mermaid.sequence_diagram(story_of(run("fetch B, drop B"))).splitlines()


def test_a_figure_of_some_steps_names_the_others() -> None:
    story = story_of(run(SHORTEST_LOSS), run(SHORTEST_LOSS, "kip-101"))
    whole, some = (texts(ET.fromstring(svg.drawing(story, "the loss", steps))) for steps in (None, (4, 8)))
    named = some.replace("\u00a0", " ")
    assert "1 produce A, 2 fetch B, 3 receive B" in named
    assert "9 notify B" in named
    assert ("A appends m0" in whole, "A appends m0" in some) == (True, False)
    assert "they part at step 8" in some.lower()


def itf_expression(value: Any) -> bool:
    """Whether Apalache's ADR 015 has such an expression: nothing is null, and a number that is large is text."""
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
def test_every_state_of_a_trace_in_itf_gives_each_variable_a_value_of_the_format(name: str) -> None:
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


def test_a_trace_in_itf_has_the_variables_of_the_one_in_tla() -> None:
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


def test_a_trace_in_tla_has_a_state_for_the_start_and_one_for_each_event():
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


def test_words_that_a_step_changed_are_marked():
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


def test_drawings_end_with_the_healed_state_where_convergence_is_broken():
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
def test_whatever_happens_every_drawing_is_valid(schedule, protocol):
    hw, other = (replay(schedule, GENERATIONS[name], Configuration(replicas=3)) for name in ("hw", protocol))
    said = texts(ET.fromstring(svg.drawing(story_of(hw, other), "any")))
    diagram = mermaid.sequence_diagram(story_of(hw, other)).splitlines()
    module = tla.trace_module("any", "", [hw, other])
    code = "\n".join(line.partition("\\*")[0] for line in module.splitlines())
    assert all(f"{i}  " in said for i in range(1, len(schedule) + 1))
    assert [line for line in diagram if not STATEMENT.fullmatch(line.strip())] == []
    assert all(code.count(opening) == code.count(closing) for opening, closing in ("[]", "{}", ("<<", ">>"), "()"))


# What KRaft has and ZooKeeper had not.

PENDING = "produce A, fetch B, receive B, expire B, unfence B, notify A, expire B, expand B"


def test_a_pending_isr_and_its_request_are_drawn_at_the_leader_until_the_answer_has_come():
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
    assert arrows[0] != arrows[1]  # one leaves the leader, the other comes to it


def test_fenced_and_eligible_replicas_are_drawn_and_so_is_who_led_last():
    *_, fenced, leaderless = narrate(run(f"{PENDING}, expire A", "kip-966", min_insync_replicas=2))
    assert texts(panel.panel(fenced, 3)).count("fenced") == 1
    said = texts(panel.panel(leaderless, 3))
    assert "controller at e1: no leader, ISR empty" in said
    assert "ELR A,B, last led by A" in said
    assert said.count("fenced") == 2


def test_a_panel_is_as_high_as_ever_where_there_is_nothing_of_the_kind():
    before = narrate(run("produce A, fetch B", "kip-320", power_loss=True))
    after = narrate(run(f"{PENDING}, expire A", "kip-966", min_insync_replicas=2))
    assert {panel.height(each) for each in before} == {panel.height(after[0])}
    assert panel.height(after[-1]) > panel.height(after[0])


def test_a_sequence_diagram_has_an_arrow_for_each_request_and_answer_of_a_change_of_the_isr():
    schedule = f"{PENDING}, alter A, resend A, unfence B"
    diagram = mermaid.sequence_diagram(story_of(run(schedule, "kip-966", min_insync_replicas=2)))
    for arrow in ("A->>Controller: AlterPartition A,B", "Controller--xA: ISR A,B ineligible", "B->>Controller: 11"):
        assert arrow in diagram


def test_an_answer_that_outlives_a_decision_is_drawn_from_who_gave_it():
    schedule = "produce A, elect B, notify A, notify B, fetch A, crash B, elect A, notify A, receive A"
    last = run(schedule, "kip-595:late_answer=diverging_any")
    assert "B-->>A: diverges, e0 ends at 0" in mermaid.sequence_diagram(story_of(last))
    assert "diverges, e0 ends at 0 from B" in texts(panel.panel(narrate(last)[8], 3))  # in two lines


def test_a_trace_has_what_the_protocol_has_and_no_more():
    modern, older = (tla.trace_module("m", "", [run("produce A", each)]) for each in ("kip-966", "kip-320"))
    for field in ("pendingIsr", "alterPartition", "elr", "lastKnownLeader", "fenced"):
        assert f"{field} |->" in modern
        assert f"{field} |->" not in older


def test_a_loss_that_the_contract_permits_is_one_in_the_trace_all_the_same():
    schedule = (
        "produce A, fetch B, receive B, fetch B, power_loss B, restart B, expire B, register B, power_loss A,"
        " restart A, expire A, register A, notify A, unfence A, elect A, notify A"
    )
    permitted = run(schedule, "kip-966", power_loss=True, min_insync_replicas=2)
    assert not permitted.first_broken
    assert captions.verdict(permitted) == "loses m0 at step 16, as KIP-966 permits by then"
    assert "ASSUME Loses(kip_966)" in tla.trace_module("m", "", [permitted])
