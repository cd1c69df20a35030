"""Causes: the choices of a protocol that a schedule needs to break a property, and their documentation."""

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


def test_each_smallest_set_of_choices_whose_replacement_fixes_a_schedule_is_a_cause():
    assert names("hw", SHORTEST_LOSS) == [["truncation=high_watermark"], ["registration=resume"]]
    assert names("kafka-2.8.0", DIVERGING_FETCH) == [["diverging_fetch=counted"]]


def test_a_cause_has_two_choices_if_replacing_a_single_choice_does_not_fix_the_schedule():
    asks_forever = "produce A, elect B, notify B, produce B, elect A, catch_up A, produce A"
    assert names("kip-101", asks_forever, "convergence") == [["truncation=leader_epoch", "epoch_cache=original"]]


def test_an_enabled_fault_is_a_cause_of_the_violations_that_it_permits():
    lost = "produce A, shrink B, crash A, elect B, notify B"
    assert names("kip-320", lost, unclean_leader_election=True)[0] == ["unclean_leader_election=true"]
    unflushed = "produce A, shrink B, power_loss A, restart A, elect A, notify A"
    assert why("kip-320", unflushed, power_loss=True).status is CauseStatus.KNOWN


def test_a_violation_by_a_mutant_that_is_not_a_choice_has_no_cause_and_is_new():
    mutant, proof = next((each, proofs()[each.name]) for each in PROTOCOL_DEFECTS if each.name in proofs())
    found = causes(proof.shortest, mutant.broken_protocol, proof.settings, proof.property)
    assert (found.sets, found.status, found.reason) == ((), CauseStatus.NEW, None)


def test_an_alternative_choice_is_a_cause_if_it_conflicts_with_another_choice():
    refused = "produce A, shrink B, alter A, resend A, alter A, altered A"
    assert names("kip-595:isr_duplicate=refused", refused, "isr-change-ends") == [["isr_duplicate=refused"]]


def test_the_status_of_a_violation_is_the_status_of_its_best_known_cause():
    assert why("hw", SHORTEST_LOSS).status is CauseStatus.KNOWN
    case = load_case(ROOT / "corpus" / "history" / "re-elected-leader.yaml")
    found = causes(case.events, parse_protocol("kafka-3.7"), case.settings, LOSS)
    assert (found.status, found.plain()["page"]) == (CauseStatus.SUSPECTED, "docs/findings/re-elected-leader.md")
    assert [[each.text for each in together] for together in found.sets] == [["remote_leo=kept"]]


def test_reason_explains_named_protocols_but_no_combination_of_choices():
    schedule = parse_schedule(SHORTEST_LOSS.split(", "))
    settings = Configuration()
    assert reason(schedule, parse_protocol("hw"), settings, LOSS)
    assert reason(schedule, parse_protocol("kafka-0.10.2.1"), settings, LOSS)
    mixed = parse_protocol("kip-320:truncation=high_watermark,registration=resume")
    assert reason(schedule, mixed, settings, LOSS) is None
    assert causes(schedule, mixed, settings, LOSS).status is CauseStatus.KNOWN


def test_power_loss_permits_a_lost_record_unless_the_protocol_guarantees_against_it():
    settings = Configuration(power_loss=True)
    assert gives_way_to(LOSS, parse_protocol("kip-320"), settings) == ["power_loss"]
    assert gives_way_to(LOSS, parse_protocol("kip-966"), settings) == []
    assert gives_way_to("hw-within-log", parse_protocol("kip-320"), settings) == []


@pytest.mark.thorough
def test_every_violation_in_the_corpus_has_a_documented_cause():
    invented = "controller_writes=unconditional"  # no release of Kafka writes this way
    undocumented = []
    for case in load_corpus([ROOT / "corpus"]):
        for name, expected in case.expect.items():
            for broken in expected.broken:
                found = causes(case.events, parse_protocol(name), case.settings, broken)
                if found.status is CauseStatus.NEW and invented not in name:
                    undocumented.append(f"{case.id}, {name}: {broken}")
    assert not undocumented


def test_every_page_that_documents_a_choice_exists():
    sources = {each for choices in MECHANISMS.values() for choice in choices for each in choice.told_by}
    pages = {each for each in sources if each.endswith(".md")}
    assert pages
    assert [page for page in pages if not (ROOT / page).exists()] == []


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_sound_choice_has_no_documented_flaw(mechanism):
    assert all(not choice.told_by for choice in sound_choices(mechanism))


def test_choices_of_different_mechanisms_are_never_equal():
    choices = [choice for mechanism in MECHANISMS.values() for choice in mechanism]
    assert len(set(choices)) == len(choices)
    assert all(int(choice) == choice and choice == int(choice) for choice in choices)


def test_properties_yield_only_to_existing_faults():
    faults = {fault for each in properties.PROPERTIES for fault in each.yields_to}
    assert faults == {"unclean_leader_election", "power_loss", "lost_directory"}


def test_replay_shows_causes_in_its_output_and_in_its_json():
    case = ROOT / "corpus" / "history" / "re-elected-leader.yaml"
    shown = epochfuzz("replay", case, "--protocol", "kafka-3.7", "--json")
    verdict = json.loads(shown.stdout)["cases"][0]["protocols"]["kafka-3.7"]
    cause = verdict["causes"][LOSS]
    assert (cause["status"], cause["jira"]) == ("suspected", [])
    assert cause["causes"][0][0]["mechanism"] == "remote_leo"
    assert "suspected: remote_leo=kept (docs/findings/re-elected-leader.md)" in shown.stderr


def test_shrink_shows_the_causes_of_the_violation():
    shrunk = epochfuzz("shrink", ROOT / "corpus" / "documents" / "m1-loss.yaml", "--protocol", "hw", "--json")
    document = json.loads(shrunk.stdout)
    assert (document["status"], document["page"]) == ("known", None)
    assert [[each["mechanism"] for each in together] for together in document["causes"]] == [
        ["truncation"],
        ["registration"],
    ]
    assert "Because of truncation=high_watermark" in shrunk.stderr
