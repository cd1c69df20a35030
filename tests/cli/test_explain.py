"""Explain: every name of the model has an entry, and every example shows what its entry says."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from epochfuzz.harness.cli.output import BadInput
from epochfuzz.harness.commands import explain as command
from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.findings import goals as asked
from epochfuzz.harness.reference.explain import (
    KINDS,
    Example,
    GlossaryEntry,
    UnknownName,
    by_generation,
    find,
    glossary,
)
from epochfuzz.harness.reference.issues import is_issue, issue, written
from epochfuzz.harness.testing import run_schedule
from epochfuzz.harness.trace.replay import Run
from epochfuzz.harness.trace.scenes import narrate
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.vocabulary import goals
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS, event_text
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import (
    GENERATIONS,
    NAMED,
    OTHER_SYSTEMS,
    RELEASES,
    choice_texts,
    parse_protocol,
)
from epochfuzz.model.kafka.vocabulary.refusals import REFUSALS
from tests.printed import check_json

ROOT = Path(__file__).parents[2]

ENTRIES = list(glossary().values())
NAMES = {
    "property": list(properties.NAMES),
    "mechanism": [
        name
        for mechanism in MECHANISMS
        for name in (mechanism, *(f"{mechanism}={choice}" for choice in choice_texts(mechanism)))
    ],
    "generation": list(GENERATIONS),
    "release": [*RELEASES, *OTHER_SYSTEMS],
    "event": list(VERBS),
    "goal": list(goals.NAMES),
    "word": [
        *("LEO", "HW", "ISR", "acks", "epoch", "zombie", "committed", "known", "minimal"),
        *("schedule", "counterexample", "guarantee", "leader-and-ISR update", "true leader", "ELR", "fenced"),
    ],
    "term": [entry.name for entry in ENTRIES if entry.kind == "term"],
}

SHOWN_BY_AN_EXAMPLE = [entry for entry in ENTRIES if entry.kind != "term"]

each_entry = pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.name) for entry in ENTRIES])


def of_kind(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("entry", [pytest.param(e, id=e.name) for e in ENTRIES if e.kind in kinds])


def run(example: Example, protocol: str | None = None, events: tuple[str, ...] | None = None) -> Run:
    chosen = example.events if events is None else events
    return run_schedule(chosen, protocol or example.under, **example.settings.changed())


def leaving_one_out(events: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [events[:i] + events[i + 1 :] for i in range(len(events))]


each_example = pytest.mark.parametrize("entry", [pytest.param(e, id=e.name) for e in SHOWN_BY_AN_EXAMPLE])

# Completeness.


@pytest.mark.parametrize("kind", KINDS)
def test_the_glossary_explains_exactly_the_names_of_the_model(kind: str) -> None:
    assert [entry.name for entry in ENTRIES if entry.kind == kind] == NAMES[kind]


@each_entry
def test_the_meaning_and_the_reason_of_an_entry_are_sentences(entry: GlossaryEntry) -> None:
    assert entry.means.endswith(".")
    assert entry.why.endswith(".")


# Examples.


@each_example
def test_an_example_breaks_a_property_with_its_last_event_and_only_under_its_protocol(
    entry: GlossaryEntry,
) -> None:
    example = entry.example
    if example.breaks is None:
        assert run(example).first_broken == {}
    else:
        assert run(example).first_broken[example.breaks] == len(example.events)
    if example.beside is not None:
        assert run(example, example.beside).first_broken == {}


@of_kind("property")
def test_the_example_of_a_property_breaks_that_property_if_any_protocol_does(entry: GlossaryEntry) -> None:
    never_broken = ("leader-available", "fetch-answered")
    assert entry.example.breaks == (None if entry.name in never_broken else entry.name)


@of_kind("mechanism")
def test_the_example_of_a_mechanism_compares_protocols_that_differ_only_in_this_mechanism(entry: GlossaryEntry) -> None:
    mechanism, _, choice = entry.name.partition("=")
    under, beside = parse_protocol(entry.example.under), parse_protocol(entry.example.beside)
    assert [each for each in MECHANISMS if under.choice(each) != beside.choice(each)] == [mechanism]
    assert beside.name in GENERATIONS
    if choice not in ("", beside.choice(mechanism).text):
        assert under.choice(mechanism).text == choice


@of_kind("generation")
def test_the_example_of_a_reference_design_shows_a_violation_that_the_next_design_fixes(
    entry: GlossaryEntry,
) -> None:
    names = list(GENERATIONS)
    last = min(names.index(entry.name), len(names) - 2)
    assert (entry.example.under, entry.example.beside) == (names[last], names[last + 1])
    does_otherwise = ("kip-320", "kip-497")  # the next design differs from these, and fixes nothing
    assert (entry.example.breaks is None) == (entry.name in does_otherwise)


@of_kind("release")
def test_the_example_of_a_release_compares_the_release_with_a_named_protocol(entry: GlossaryEntry) -> None:
    assert entry.example.under == entry.name
    assert entry.example.beside in NAMED


@of_kind("event")
def test_the_example_of_an_event_ends_with_this_event_and_needs_every_earlier_event(entry: GlossaryEntry) -> None:
    whole = narrate(run(entry.example))
    assert whole[-1].applied
    assert whole[-1].event.split()[0] == entry.name
    for events in leaving_one_out(entry.example.events)[:-1]:
        assert narrate(run(entry.example, events=events))[-1].sentence != whole[-1].sentence


@of_kind("goal")
def test_the_example_of_a_goal_meets_the_goal_with_the_last_event_and_needs_every_event(entry: GlossaryEntry) -> None:
    goal = 1 << goals.NAMES.index(entry.name)
    assert run(entry.example).steps[-1].state.goals & goal
    for events in leaving_one_out(entry.example.events):
        assert not any(step.state.goals & goal for step in run(entry.example, events=events).steps)


# The condition that the last state of a word's example meets. The examples of other words are shortest schedules.
SHOWN = {
    "LEO": lambda p: p.leo[0] == 1,
    "HW": lambda p: p.high_watermark[0] == 1,
    "ISR": lambda p: p.high_watermark[0] == 1 and is_power_of_two(p.isr[0]),
    "acks": lambda p: p.leo[0] == 1 and p.high_watermark[0] == 0,
    "epoch": lambda p: p.controller_epoch == 1,
    "zombie": lambda p: p.controller_epoch == 1 and presumes_leadership(p, 0),
    "committed": lambda p: p.high_watermark[0] == 1,
    "schedule": lambda p: p.leo[1] == 1,
    "guarantee": lambda p: p.high_watermark[0] == 1,
    "leader-and-ISR update": lambda p: p.controller_epoch == 1,
    "true leader": lambda p: p.controller_epoch == 1 and presumes_leadership(p, 1),
    "ELR": lambda p: p.elr != 0,
    "fenced": lambda p: p.fenced != 0,
}


def is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


@of_kind("word")
def test_the_example_of_a_word_shows_its_meaning_with_the_last_event_and_needs_every_event(
    entry: GlossaryEntry,
) -> None:
    if entry.example.breaks is None:
        is_shown = SHOWN[entry.name]
        assert is_shown(run(entry.example).steps[-1].state)
        for events in filter(None, leaving_one_out(entry.example.events)):
            assert not is_shown(run(entry.example, events=events).steps[-1].state)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("leo", "LEO"),
        ("high watermark", "HW"),
        ("hw", "hw"),
        ("isr", "ISR"),
        ("certified", "minimal"),
        ("Promise", "guarantee"),
        ("Subject", "system under test"),
        ("complete SEARCH", "exhaustive search"),
        ("known bug", "known"),
    ],
)
def test_a_lookup_accepts_synonyms_and_any_case_except_the_exact_name_of_another_entry(said: str, name: str) -> None:
    assert find(said).name == name


SEARCHED = list(dict.fromkeys(entry.example for entry in ENTRIES if entry.example and entry.example.breaks))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "example",
    [
        pytest.param(
            example,
            id=f"{example.under} breaks {example.breaks}",
            marks=[pytest.mark.slow] if example.settings.replicas > 2 or len(example.events) > 12 else [],
        )
        for example in SEARCHED
    ],
)
def test_exhaustive_search_finds_no_schedule_shorter_than_the_example(example: Example) -> None:
    # A search of two protocols with three replicas does not fit into memory. A schedule that breaks only the first is
    # at least as long as the shortest schedule that breaks the first.
    alone = example.settings.replicas > 2
    bounds = {"records": 2 if alone else 3, "epochs": 3}
    found = explore(
        parse_protocol(example.under),
        Configuration(**(bounds | example.settings.changed())),
        properties.named(example.breaks or "").bit,
        depth=len(example.events),
        holding=[parse_protocol(example.beside)] if example.beside and not alone else [],
    )
    assert found.shortest is not None
    assert len(found.shortest) == len(example.events)


@pytest.mark.thorough
@pytest.mark.parametrize("generation", GENERATIONS)
def test_exhaustive_search_finds_no_high_watermark_beyond_the_log(generation: str) -> None:
    bounds = Configuration(power_loss=True, asynchronous_checkpoint=True, records=1, epochs=1)
    result = explore(GENERATIONS[generation], bounds, properties.named("hw-within-log").bit)
    assert (result.complete, result.broken) == (True, False)


# The role of a name in each reference design.


@pytest.mark.parametrize(
    ("name", "generation", "expected"),
    [
        ("no-divergence", "kip-320", "must hold"),
        ("no-divergence", "hw", "may break: truncation=high_watermark"),
        ("truncation", "kip-101", "leader_epoch"),
        ("truncation=high_watermark", "kip-279", "leader_epoch_stepwise"),
        ("kip-279", "kip-279", "truncation=leader_epoch_stepwise, truncate_when=leader_changed, "),
        ("fetch fenced", "kip-320", "required"),
        ("fetch fenced", "kip-279", "optional"),
        ("crash", "hw", "has it"),
    ],
)
def test_an_entry_describes_the_role_of_a_name_in_each_reference_design(
    name: str, generation: str, expected: str
) -> None:
    assert by_generation(find(name))[generation].startswith(expected)


def test_the_entry_of_a_reference_design_or_release_describes_no_other_protocol() -> None:
    assert list(by_generation(find("kip-101"))) == ["kip-101"]
    assert list(by_generation(find("kafka-2.6.1"))) == ["kafka-2.6.1"]


@of_kind("goal")
def test_the_entry_of_a_goal_says_required_exactly_if_a_configuration_requires_the_goal(entry: GlossaryEntry) -> None:
    every = [
        Configuration(min_insync_replicas=2),
        Configuration(unclean_leader_election=True, power_loss=True, asynchronous_checkpoint=True),
        Configuration(unclean_leader_election=True, retries=True, consumer=True),
        Configuration(controllers=2, transactions=True),
        Configuration(lag_time=True, delayed_fetch=True),
        Configuration(consumer=True, consumer_group=True, lost_directory=True),
        Configuration(retention=True),
    ]
    ever = any(entry.name in asked.asked_for(p, settings) for p in GENERATIONS.values() for settings in every)
    assert ("required" in by_generation(entry).values()) == ever


# The command.


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    app.command()(command.explain)
    return app


def invoke(app: typer.Typer, *arguments: str) -> Any:
    result = CliRunner().invoke(app, arguments)
    if isinstance(result.exception, BadInput):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_explain_without_a_name_lists_every_name_on_a_line(app: typer.Typer) -> None:
    lines = invoke(app).stdout.splitlines()
    assert [line for line in lines if not line.startswith("  ")] == [
        "reference designs" if kinds == "generations" else kinds for kinds in KINDS.values()
    ]
    listed = [line.rstrip().split("  ")[1] for line in lines if line.startswith("  ")]
    assert listed == [name for kind in KINDS for name in NAMES[kind]]


@pytest.mark.thorough
@each_entry
def test_explain_prints_every_entry_as_text_and_as_json(app: typer.Typer, entry: GlossaryEntry) -> None:
    result = invoke(app, *entry.name.split(), "--json")
    out = result.stdout
    check_json(["explain", "--json"], out)
    document = json.loads(out)
    assert (document["name"], document["kind"], document["why"]) == (entry.name, entry.kind, entry.why)
    text = result.stderr
    assert " ".join(entry.means.split()) in " ".join(text.split())
    if entry.example is None:
        assert document["example"] is None
        return
    assert document["example"]["events"] == [event_text(step.event) for step in run(entry.example).steps]
    assert f"{len(entry.example.events)} {entry.example.events[-1]}" in " ".join(text.split())


def test_explain_prints_the_list_of_names_as_json(app: typer.Typer) -> None:
    names = json.loads(invoke(app, "--json").stdout)["names"]
    assert names[0] == {
        "name": "no-committed-loss",
        "kind": "property",
        "summary": "A committed record is never lost.",
    }
    assert len(names) == len(ENTRIES)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("no-comitted-loss", "did you mean 'no-committed-loss' or 'no-acked-loss'?"),
        ("epoch_start", "did you mean 'isr_expansion=epoch_start'?"),
        ("isr shrunk", "did you mean 'isr shrink' or 'ISR shrank'?"),
        ("data center", "`epochfuzz explain` lists all names"),
        ("xyzzy", "`epochfuzz explain` lists all names"),
    ],
)
def test_explain_suggests_the_nearest_names_for_an_unknown_name(app: typer.Typer, written: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        invoke(app, *written.split())
    assert str(caught.value) == f"unknown name {written!r}; {said}"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("data loss", "no-committed-loss"),
        ("Message-Loss", "no-committed-loss"),
        ("lost write", "no-acked-loss"),
        ("log divergence", "no-divergence"),
        ("split brain", "zombie"),
        ("stale leader", "zombie"),
        ("leader hw", "HW"),
        ("OffsetsForLeaderEpoch", "truncation=leader_epoch"),
        ("partition", "partition"),
        ("leader election", "elect"),
        ("ISR expansion", "isr_expansion"),
        ("unclean.leader.election.enable", "unclean election"),
    ],
)
def test_a_lookup_accepts_common_terms_from_articles(written: str, name: str) -> None:
    assert find(written).name == name


def error_codes(texts: Iterable[str]) -> list[str]:
    return sorted({code for text in texts for code in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", text)})


def texts_of_traces() -> Iterator[str]:
    """Yield the texts that a trace or a message may print, as the model and the package harness.trace contain them."""
    yield from (refusal.sentence for refusal in REFUSALS)
    yield from (choice.meaning for choices in MECHANISMS.values() for choice in choices)
    for path in sorted((ROOT / "harness" / "trace").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


ERROR_CODES = error_codes([*texts_of_traces(), *(f"{entry.means} {entry.why}" for entry in ENTRIES)])


@pytest.mark.parametrize("code", ERROR_CODES)
def test_explain_knows_every_error_code_of_traces_messages_and_the_glossary(code: str) -> None:
    entry = find(code)
    assert code in f"{entry.name} {entry.means} {entry.why}"


def test_the_error_codes_of_traces_include_those_of_requests_and_responses() -> None:
    assert {"FENCED_LEADER_EPOCH", "INELIGIBLE_REPLICA", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"} <= set(ERROR_CODES)


@pytest.mark.parametrize("name", ["reassignment", "tiered storage"])
def test_explain_says_that_the_model_lacks_a_part_of_kafka_and_names_the_page_about_limits(name: str) -> None:
    assert f"The model has no {name}." in find(name).means
    assert "docs/explain/limits.md" in find(name).why


def test_names_and_synonyms_are_unambiguous_except_for_upper_and_lower_case_hw() -> None:
    meant = {(name.lower(), entry.name) for entry in ENTRIES for name in (entry.name, *entry.also)}
    names = [name for name, _ in meant]
    assert {name for name in names if names.count(name) > 1} == {"hw"}


def test_a_lookup_of_an_unknown_name_raises_an_error_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'fetch'"):
        find("fetsh")


def test_explain_loads_neither_numba_nor_hypothesis_nor_spark() -> None:
    code = (
        "import sys; from harness.commands.explain import explain; explain(['fetch']);"
        " assert not {'numba', 'hypothesis', 'pyspark'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("name", "exit_code", "complaint"),
    [("fetch", 0, ""), ("fetsh", 2, "epochfuzz: unknown name 'fetsh'; did you mean 'fetch'?\n")],
)
def test_explain_exits_with_0_for_a_known_name_and_with_2_for_an_unknown_name(
    name: str, exit_code: int, complaint: str
) -> None:
    result = subprocess.run(
        [sys.executable, "-c", "from epochfuzz.harness.cli.main import main; main()", "explain", name],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (exit_code, complaint)


def test_explain_links_an_issue_to_its_mechanisms_in_any_spelling(epochfuzz) -> None:
    for name in ("KAFKA-7395", "kafka-7395", "Kafka 7395"):
        told = epochfuzz("explain", *name.split(), "--json").json
        assert told["name"] == "KAFKA-7395"
        assert told["link"] == "https://issues.apache.org/jira/browse/KAFKA-7395"
        assert told["tells_of"] == ["fencing=none"]
        assert "fencing=epoch" in told["mentioned_by"]


def test_explain_knows_every_issue_that_a_mechanism_choice_declares() -> None:
    declared = {told for choices in MECHANISMS.values() for choice in choices for told in choice.told_by}
    named = {name for name in declared if is_issue(name)}
    assert {issue(name).name for name in named} == named


def test_explain_exits_with_2_for_an_issue_that_no_entry_mentions(epochfuzz) -> None:
    ended = epochfuzz("explain", "KAFKA-99999")
    assert ended.code == 2
    assert "no entry mentions KAFKA-99999" in ended.err


def test_explain_knows_every_kip_and_issue_that_the_project_mentions() -> None:
    folders = ("docs", "corpus", "model", "harness/reference", "harness/lab/mutants")
    texts = [
        file.read_text(encoding="utf-8")
        for folder in folders
        for file in (ROOT / folder).rglob("*.*")
        if file.suffix in (".md", ".py", ".yaml")
    ]
    spoken_of = set(re.findall(r"\b(?:KIP|KAFKA)-\d+\b", " ".join(texts)))
    assert sorted(spoken_of - written().keys()) == []


@pytest.mark.parametrize("said", ["4.3.1", "v4.3.1", "Kafka 4.3.1", "KAFKA-4.3.1"])
def test_explain_accepts_a_kafka_version_in_any_spelling(app: typer.Typer, said: str) -> None:
    assert "kafka-4.3.1 stands for kafka-4.1" in invoke(app, *said.split()).stdout
