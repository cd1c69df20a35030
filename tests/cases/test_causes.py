"""Causes: which choices of a protocol a schedule needs to break what it breaks, and what is known of them."""

import json
from pathlib import Path

import pytest

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.lab.mutants import PROTOCOL_DEFECTS
from epochfuzz.harness.lab.mutants.proofs import proofs
from epochfuzz.harness.trace.causes import CauseStatus, causes, gives_way_to, reason
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS, sound_choices
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.cli.test_command_line import epochfuzz

ROOT = Path(__file__).parents[2]
LOSS = "no-committed-loss"


def why(protocol: str, schedule: str, property_: str = LOSS, **settings: object):
    events = parse_schedule(schedule.split(", "))
    return causes(events, parse_protocol(protocol), Configuration(**settings), property_)  # type: ignore[arg-type]


def names(protocol: str, schedule: str, property_: str = LOSS, **settings: object) -> list[list[str]]:
    return [[each.text for each in together] for together in why(protocol, schedule, property_, **settings).sets]


SHORTEST_LOSS = "produce A, fetch B, receive B, fetch B, crash B, restart B, elect B, notify B, notify B"
DIVERGING_FETCH = "produce A, elect B, notify A, notify B, produce B, fetch A, elect A, notify A"


def test_each_smallest_set_of_choices_that_heals_a_schedule_is_a_cause():
    assert names("hw", SHORTEST_LOSS) == [["truncation=high_watermark"], ["registration=resume"]]
    assert names("kafka-2.8.0", DIVERGING_FETCH) == [["diverging_fetch=counted"]]


def test_where_no_choice_alone_heals_it_the_cause_is_two_together():
    asks_for_ever = "produce A, elect B, notify B, produce B, elect A, catch_up A, produce A"
    assert names("kip-101", asks_for_ever, "convergence") == [["truncation=leader_epoch", "epoch_cache=original"]]


def test_a_fault_that_was_asked_for_is_a_cause_of_what_gives_way_to_it():
    lost = "produce A, shrink B, crash A, elect B, notify B"
    assert names("kip-320", lost, unclean_leader_election=True)[0] == ["unclean_leader_election=true"]
    unflushed = "produce A, shrink B, power_loss A, restart A, elect A, notify A"
    assert why("kip-320", unflushed, power_loss=True).status is CauseStatus.KNOWN


def test_a_mistake_that_no_choice_stands_for_has_no_cause_and_is_new():
    defect, proof = next((each, proofs()[each.name]) for each in PROTOCOL_DEFECTS if each.name in proofs())
    found = causes(proof.shortest, defect.broken_protocol, proof.settings, proof.property)
    assert (found.sets, found.status, found.reason) == ((), CauseStatus.NEW, None)


def test_choices_that_are_as_good_as_others_are_causes_where_they_do_not_go_together():
    refused = "produce A, shrink B, alter A, resend A, alter A, altered A"
    assert names("kip-595:isr_duplicate=refused", refused, "isr-change-ends") == [["isr_duplicate=refused"]]


def test_status_is_that_of_what_explains_it_best():
    assert why("hw", SHORTEST_LOSS).status is CauseStatus.KNOWN
    case = load_case(ROOT / "corpus" / "history" / "re-elected-leader.yaml")
    found = causes(case.events, parse_protocol("kafka-3.7"), case.settings, LOSS)
    assert (found.status, found.plain()["page"]) == (CauseStatus.SUSPECTED, "docs/findings/re-elected-leader.md")
    assert [[each.text for each in together] for together in found.sets] == [["remote_leo=kept"]]


def test_nothing_is_expected_of_a_protocol_that_is_put_together():
    schedule = parse_schedule(SHORTEST_LOSS.split(", "))
    settings = Configuration()
    assert reason(schedule, parse_protocol("hw"), settings, LOSS)
    assert reason(schedule, parse_protocol("kafka-0.10.2.1"), settings, LOSS)
    mixed = parse_protocol("kip-320:truncation=high_watermark,registration=resume")
    assert reason(schedule, mixed, settings, LOSS) is None
    assert causes(schedule, mixed, settings, LOSS).status is CauseStatus.KNOWN


def test_a_loss_to_a_power_failure_is_known_unless_it_is_promised_not_to_happen():
    settings = Configuration(power_loss=True)
    assert gives_way_to(LOSS, parse_protocol("kip-320"), settings) == ["power_loss"]
    assert gives_way_to(LOSS, parse_protocol("kip-966"), settings) == []
    assert gives_way_to("hw-within-log", parse_protocol("kip-320"), settings) == []


@pytest.mark.thorough
def test_every_choice_that_breaks_a_case_of_the_corpus_says_who_tells_of_it():
    invented = "controller_writes=unconditional"  # no Kafka wrote like that
    untold = []
    for case in load_corpus([ROOT / "corpus"]):
        for name, expected in case.expect.items():
            for broken in expected.broken:
                found = causes(case.events, parse_protocol(name), case.settings, broken)
                if found.status is CauseStatus.NEW and invented not in name:
                    untold.append(f"{case.id}, {name}: {broken}")
    assert not untold


def test_a_page_that_suspects_something_is_there():
    told = {each for choices in MECHANISMS.values() for choice in choices for each in choice.told_by}
    pages = {each for each in told if each.endswith(".md")}
    assert pages
    assert [page for page in pages if not (ROOT / page).exists()] == []


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_sound_choice_is_told_of_by_nobody(mechanism):
    assert all(not choice.told_by for choice in sound_choices(mechanism))


def test_choices_of_different_mechanisms_are_never_equal():
    choices = [choice for mechanism in MECHANISMS.values() for choice in mechanism]
    assert len(set(choices)) == len(choices)
    assert all(int(choice) == choice and choice == int(choice) for choice in choices)


def test_a_property_that_yields_to_a_fault_names_one_that_there_is():
    faults = {fault for each in properties.PROPERTIES for fault in each.yields_to}
    assert faults == {"unclean_leader_election", "power_loss", "lost_directory"}


def test_replay_shows_causes_and_has_them_in_its_json():
    case = ROOT / "corpus" / "history" / "re-elected-leader.yaml"
    shown = epochfuzz("replay", case, "--protocol", "kafka-3.7", "--json")
    verdict = json.loads(shown.stdout)["cases"][0]["protocols"]["kafka-3.7"]
    cause = verdict["causes"][LOSS]
    assert (cause["status"], cause["jira"]) == ("suspected", [])
    assert cause["causes"][0][0]["mechanism"] == "remote_leo"
    assert "suspected: remote_leo=kept (docs/findings/re-elected-leader.md)" in shown.stderr


def test_shrink_says_why_what_it_shrinks_is_broken():
    shrunk = epochfuzz("shrink", ROOT / "corpus" / "documents" / "m1-loss.yaml", "--protocol", "hw", "--json")
    document = json.loads(shrunk.stdout)
    assert (document["status"], document["page"]) == ("known", None)
    assert [[each["mechanism"] for each in together] for together in document["causes"]] == [
        ["truncation"],
        ["registration"],
    ]
    assert "Because of truncation=high_watermark" in shrunk.stderr
