"""Releases: their protocols, the properties that they break, and the survey of these properties."""

import ast
import json
from dataclasses import replace
from datetime import date

import pytest
import typer
from typer.testing import CliRunner

from epochfuzz.harness.commands import explain as command
from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.lab import survey
from epochfuzz.harness.lab.survey_search import Budget, SearchEnd, search
from epochfuzz.harness.reference import checked, releases
from epochfuzz.harness.reference.releases import Broken, ReleaseVerdicts, surveyed
from epochfuzz.harness.reference.rules_digest import leave_out_unread, rules_digest
from epochfuzz.harness.testing import run_schedule
from epochfuzz.harness.trace.causes import CauseStatus
from epochfuzz.model.core import specializer
from epochfuzz.model.kafka.contract.properties import BY_NAME
from epochfuzz.model.kafka.vocabulary import versions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, NAMED, RELEASES, ProtocolError, parse_protocol
from tests.conform.kafka.releases import RELEASES as MATRIX
from tests.printed import check_json

# The lengths on the protocol page for small bounds, which an independent model has found.

PUBLISHED = [
    ("hw", 2, 3, {"no-committed-loss": 9, "no-divergence": 10, "isr-complete": 7}),
    ("kip-101", 2, 3, {"no-committed-loss": 13, "no-divergence": 13, "isr-complete": 11}),
    ("kip-279", 2, 3, {"no-committed-loss": 13, "no-divergence": 13, "isr-complete": 11}),
    ("kip-320", 2, 3, {"no-committed-loss": None, "no-divergence": None, "isr-complete": None}),
]
PUBLISHED_WITH_THREE = [
    ("kip-320:isr_expansion=high_watermark", {"no-committed-loss": 12}),
    ("kip-320:remote_leo=kept", {"no-committed-loss": 14, "isr-complete": 12}),
    ("kafka-2.6.1", {"no-committed-loss": 14, "isr-complete": 12}),
    ("kip-320", {"no-committed-loss": None}),
]


def lengths(protocol: str, settings: Configuration, names: list[str]) -> dict[str, int | None]:
    found = {name: explore(parse_protocol(protocol), settings, BY_NAME[name].bit).shortest for name in names}
    return {name: None if schedule is None else len(schedule) for name, schedule in found.items()}


@pytest.mark.thorough
@pytest.mark.parametrize(("protocol", "replicas", "records", "expected"), PUBLISHED)
def test_exhaustive_search_with_two_replicas_finds_the_published_lengths(protocol, replicas, records, expected):
    settings = Configuration(replicas=replicas, records=records, epochs=3)
    assert lengths(protocol, settings, list(expected)) == expected


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(("protocol", "expected"), PUBLISHED_WITH_THREE)
def test_exhaustive_search_with_three_replicas_finds_the_published_lengths(protocol, expected):
    settings = Configuration(replicas=3, records=1, epochs=3)
    assert lengths(protocol, settings, list(expected)) == expected


def test_exhaustive_search_counts_the_states_and_transitions_of_kip_320():
    found = explore(GENERATIONS["kip-320"], Configuration(records=3, epochs=3), 0, symmetric=False)
    assert (found.complete, found.states, found.transitions) == (True, 400_524, 1_567_865)


# Releases as protocols.


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_is_a_protocol_whose_mechanisms_can_be_replaced(name):
    assert parse_protocol(name) == RELEASES[name]
    repaired = parse_protocol(f"{name}:remote_leo=forgotten")
    assert repaired.choice("remote_leo").text == "forgotten"


@pytest.mark.parametrize("name", RELEASES)
def test_a_re_elected_leader_keeps_its_remote_leos_in_every_release(name):
    assert RELEASES[name].choice("remote_leo").text == "kept"


def test_every_kafka_version_stands_for_exactly_one_release():
    everything = [version for name in RELEASES for version in versions.released(name)]
    assert len(everything) == len(set(everything))
    for name in RELEASES:
        for version in versions.released(name):
            protocol = parse_protocol(f"kafka-{version}")
            assert (protocol.name, protocol.choices) == (f"kafka-{version}", RELEASES[name].choices)


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("0.11", "kafka-1.1"),
        ("1.0", "kafka-1.1"),
        ("2.0", "kafka-2.0.1"),
        ("2.2", "kafka-2.2"),
        ("2.4.1", "kafka-2.4"),
        ("2.6", "kafka-2.6.1"),
        ("3.2.0", "kafka-3.1"),
        ("3.2", "kafka-3.2.1"),
        ("3.4.0", "kafka-3.3"),
        ("3.8", "kafka-3.7"),
        ("3.9.0", "kafka-3.7"),
        ("3.9", "kafka-3.9.1"),
        ("4.0.0", "kafka-3.7"),
        ("4.0", "kafka-3.9.1"),
        ("4.3.1", "kafka-4.1"),
        ("4.4.0", "kafka-4.1"),
    ],
)
def test_a_kafka_version_resolves_to_the_release_with_its_protocol(version, release):
    assert parse_protocol(f"kafka-{version}").choices == RELEASES[release].choices


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kafka-0.9", "'kafka-0.9' is older than Kafka 0.10.2.0, the oldest whose protocol is known"),
        ("kafka-4.5", "'kafka-4.5' is newer than Kafka 4.4.0, the newest whose protocol is known"),
        (
            "kafka-3.1.9",
            "'kafka-3.1.9' is not a version of Kafka that epochfuzz knows; of that line there are 3.1.0, 3.1.1, 3.1.2",
        ),
        ("kafka-2.9", "'kafka-2.9' is not a version of Kafka that epochfuzz knows; there are 0.10.2, 0.11.0, 1.0, 1.1"),
        ("kafka-4", "'kafka-4' is not a version of Kafka; name one, such as kafka-4.3.1 or kafka-4.3"),
        ("kafka-new", "'kafka-new' is not a version of Kafka; name one, such as kafka-4.3.1 or kafka-4.3"),
    ],
)
def test_the_error_for_an_unknown_kafka_version_names_known_versions(name, message):
    with pytest.raises(ProtocolError, match=f"^unknown protocol: {message}"):
        parse_protocol(name)


# The survey.


@pytest.mark.thorough
def test_the_survey_of_every_reference_design_and_release_is_up_to_date():
    assert list(surveyed()) == [*GENERATIONS, *RELEASES]
    stale = ", ".join(survey.stale())
    assert not stale, f"the rules have changed since the survey of {stale}; run python -m epochfuzz.harness.lab.survey"


def test_a_schedule_of_the_survey_breaks_its_property_with_its_last_event():
    wrong = []
    for name, property_, how in releases.broken():
        run = run_schedule(how.events, name, **how.settings.changed())
        if run.first_broken.get(property_) != len(how.events):
            wrong.append(f"{name}: {property_}")
    assert not wrong


@pytest.mark.thorough
def test_no_known_schedule_beats_or_contradicts_the_survey():
    assert not [*survey.beaten(surveyed(), survey.kept())]


def test_every_violation_in_the_survey_is_known_or_suspected():
    new = [
        f"{name}: {property_}, {why.text}"
        for name, property_, how in releases.broken()
        if (why := how.causes(NAMED[name], property_)).status is CauseStatus.NEW
    ]
    assert not new


def test_a_table_cell_shows_a_question_mark_for_an_unchecked_property():
    row = surveyed()["kip-320"]
    assert releases.cell("kip-320", row, "log-matching") == "holds"
    unjudged = replace(row, judged=tuple(name for name in row.judged if name != "log-matching"))
    assert releases.cell("kip-320", unjudged, "log-matching") == "?"
    assert "log-matching" not in releases.holding("kip-320", unjudged)


def test_a_rules_digest_depends_on_the_protocol_and_on_the_properties():
    before = rules_digest(NAMED["kip-320"], ["no-committed-loss"])
    assert before == rules_digest(NAMED["kip-320"], ["no-committed-loss"])
    assert before != rules_digest(NAMED["kip-320"], ["isr-complete"])
    assert before != rules_digest(NAMED["kip-279"], ["no-committed-loss"])


def rules(text):
    parsed = ast.parse(text).body
    leave_out_unread(parsed)
    return "; ".join(ast.unparse(each) for each in parsed).replace("\n    ", " ")


def test_a_rules_digest_ignores_arguments_that_are_never_read():
    unread = "def f(p, r, missed):\n    return g(p, missed)\ndef g(p, missed):\n    return p.leo"
    assert rules(unread) == "def f(p): return g(p); def g(p): return p.leo"
    computed = "def f(p, r):\n    return g(p, h(p, r))\ndef g(p, seen):\n    return p.leo\ndef h(p, r):\n    p.isr = r"
    assert rules(computed) == computed.replace("\ndef", "; def").replace("\n    ", " ")


def test_the_survey_tries_the_schedules_of_other_protocols():
    lost = surveyed()["hw"].broken["no-committed-loss"]
    surveyor = survey.Surveyor(NAMED["kafka-0.10.2"], [(lost.settings, lost.events)])
    assert surveyor.broken["no-committed-loss"].events == lost.events
    assert not survey.Surveyor(NAMED["kip-320"], [(lost.settings, lost.events)]).broken


def test_a_search_within_bounds_finds_a_shorter_schedule_and_proves_that_none_is_shorter(monkeypatch):
    monkeypatch.setattr(survey, "WITHIN", Configuration(records=2, epochs=2))
    row = surveyed()["hw"]
    shortest = row.broken["isr-complete"]
    longer = replace(shortest, events=("crash B", "restart B", "notify B", *shortest.events), searched={2: 5, 3: 6})
    found = survey.deepened("hw", replace(row, broken={"isr-complete": longer})).broken
    assert found == {"isr-complete": replace(shortest, searched={2: 5, 3: 6}, within={2: 7, 3: 7})}


def test_a_search_that_a_row_of_the_survey_records_is_not_repeated(monkeypatch):
    monkeypatch.setattr(survey, "search", lambda *searched: pytest.fail(f"searched {searched}"))
    row = surveyed()["kip-101"]
    searched = {
        name: replace(how, searched={2: 3, 3: 3}, within={2: 4, 3: 4}, estimated={2: 5, 3: 6})
        for name, how in row.broken.items()
    }
    assert survey.deepened("kip-101", replace(row, broken=searched)).broken == searched


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        (releases.WITHIN, {"searched": {2: 7, 3: 8}, "within": {2: 7, 3: 9}}),
        (Configuration(records=1, epochs=1), {"searched": {2: 7, 3: 8}, "within": {3: 9}}),
    ],
)
def test_a_search_that_ends_with_its_time_records_an_estimate_and_keeps_deeper_results(within, expected, monkeypatch):
    monkeypatch.setattr(survey, "WITHIN", within)
    row = surveyed()["hw"]
    events = ("crash B", "restart B", "notify B", *row.broken["no-divergence"].events)
    diverged = replace(row.broken["no-divergence"], events=events, searched={3: 8}, within={3: 9}, estimated={})
    monkeypatch.setattr(survey, "search", lambda *searched: {BY_NAME["no-divergence"].bit: SearchEnd(None, 6, 900)})
    found = survey.deepened("hw", replace(row, broken={"no-divergence": diverged})).broken["no-divergence"]
    assert (found.searched, found.within) == (expected["searched"], expected["within"])
    assert found.estimated == {2: 900, 3: 900}
    assert not found.is_proven


def test_protocols_that_change_the_isr_by_request_are_searched_within_smaller_bounds():
    with_three = {
        name: [each for each in releases.searched(NAMED[name]) if each.replicas == 3] for name in ("kip-320", "kip-497")
    }
    assert with_three == {
        "kip-320": [Configuration(replicas=3, records=1, epochs=2), Configuration(replicas=3, records=1, epochs=3)],
        "kip-497": [Configuration(replicas=3, records=1, epochs=1)],
    }


@pytest.mark.parametrize("settings", [{"power_loss": True}, {"acks": "1"}, {"min_insync_replicas": 2}])
def test_the_survey_ignores_schedules_with_other_settings(settings):
    assert not survey.is_of_the_survey(BY_NAME["no-committed-loss"], Configuration(**settings))


def _unproven():
    """Yield the cells of the table without a proof, as a protocol's name and the properties that one search covers."""
    for name, row in surveyed().items():
        cells = [BY_NAME[each] for each in releases.JUDGED if each in row.broken and not row.broken[each].is_proven]
        together = tuple(each.name for each in cells if not each.at_end)
        for group in [together, *((each.name,) for each in cells if each.at_end)]:
            if group:
                yield pytest.param(name, group, id=f"{name}-{'-'.join(group)}")


# Searches of the survey have covered the other cells up to their length.
@pytest.mark.slow
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize(("name", "names"), list(_unproven()))
@pytest.mark.parametrize("replicas", releases.REPLICAS)
def test_a_search_of_five_minutes_finds_no_schedule_shorter_than_in_the_survey(replicas, name, names):
    settings = replace(releases.WITHIN, replicas=replicas)
    depths = {BY_NAME[each].bit: len(surveyed()[name].broken[each].events) - 1 for each in names}
    ended = search(NAMED[name], settings, depths, Budget(memory=4 << 30, seconds=300))
    assert {each: end.shortest for each, end in ended.items() if end.shortest is not None} == {}


def test_exhaustive_search_of_kafka_2_8_0_with_two_records_agrees_with_the_table():
    expected = {
        "no-committed-loss": 8,
        "no-acked-loss": 8,
        "no-divergence": 9,
        "isr-complete": 6,
        "join-complete": 9,
    }
    settings = Configuration(records=2, epochs=2)
    row = surveyed()["kafka-2.8.0"]
    for name, length in expected.items():
        found = explore(NAMED["kafka-2.8.0"], settings, BY_NAME[name].bit)
        assert found.shortest is not None
        assert len(found.shortest) == length
        assert releases.cell("kafka-2.8.0", row, name) == str(length)


# The tables of the survey.


def test_a_table_cell_shows_the_number_of_events_and_replicas_or_that_the_property_holds():
    two, three = Configuration(), Configuration(replicas=3)
    verdicts = ReleaseVerdicts(
        {
            "no-divergence": Broken(two, ("crash A",) * 10, {2: 10, 3: 10}),
            "isr-complete": Broken(three, ("crash A",) * 18, {2: 18, 3: 12}, {2: 18, 3: 17}),
            "no-acked-loss": Broken(three, ("crash A",) * 14, {2: 14, 3: 12}, {2: 14, 3: 14}),
        },
        ("no-divergence", "log-matching", "isr-complete", "no-acked-loss"),
        (Configuration(records=3, epochs=3),),
        "",
    )
    assert {name: releases.cell("kip-320", verdicts, name) for name in verdicts.judged} == {
        "no-divergence": "10",
        "log-matching": "holds (2)",
        "isr-complete": "≤ 18 (3)",
        "no-acked-loss": "14* (3)",
    }


def test_a_release_without_checked_jars_is_marked_as_checked_by_reading(monkeypatch):
    recorded = (checked.Check("1.1.0", 2_000, date(2026, 11, 25)), checked.Check("1.1.1", 4_000, date(2026, 11, 24)))
    monkeypatch.setattr(checked, "checks", lambda: recorded)
    assert checked.checked_on("kafka-1.1") == "1.1.0 (2,000 schedules, 2026-11-25), 1.1.1 (4,000 schedules, 2026-11-24)"
    assert checked.checked_on("kafka-2.0.0") == "by reading"


def test_the_recorded_jars_belong_to_the_release_matrix_and_each_has_run():
    assert {check.jars for check in checked.checks()} <= set(MATRIX)
    for check in checked.checks():
        assert check.schedules > 0
        assert isinstance(check.date, date)


def test_explain_releases_prints_a_row_for_each_protocol_as_text_and_as_json():
    app = typer.Typer()
    app.command()(command.explain)
    printed = CliRunner().invoke(app, ["releases"]).stdout
    for name in (*GENERATIONS, *RELEASES):
        assert name in printed
    out = CliRunner().invoke(app, ["releases", "--json"]).stdout
    check_json(["explain", "--json"], out)
    document = json.loads(out)
    kafka = {each["protocol"]: each for each in document["releases"]}["kafka-2.6.1"]
    assert kafka["broken"]["no-committed-loss"]["length"] == 14
    assert kafka["broken"]["no-committed-loss"]["status"] == "suspected"
    assert "log-matching" in kafka["holds"]
    assert kafka["versions"] == ["2.6.1", "2.6.2", "2.6.3"]


@pytest.mark.thorough
def test_a_rules_digest_does_not_depend_on_earlier_digests():
    forwards = {name: rules_digest(protocol, []) for name, protocol in NAMED.items()}
    backwards = {name: rules_digest(NAMED[name], []) for name in reversed(NAMED)}
    assert forwards == backwards
    for cache in (specializer._folded, specializer._answers):
        cache.clear()
    assert rules_digest(NAMED["kafka-1.1"], []) == forwards["kafka-1.1"]
