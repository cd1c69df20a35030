"""`--model module:NAME`: the commands run your own model, and report errors in it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.toy import LOG

Run = Callable[..., Any]
TOY = ("--model", "tests.engine.toy:LOG")

CASE = """\
schema: 1
id: lost
why: An eager leader promises what nobody else has.
config: {replicas: 3, records: 2, elections: 2}
events: [append A, copy C, append A, elect B, copy A]
expect:
  eager: {broken: [no-loss], at: 4}
  patient: {broken: []}
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    path = tmp_path / "lost.yaml"
    path.write_text(CASE, encoding="utf-8")
    return path


def test_explore_shows_the_shortest_schedule_field_by_field(epochfuzz: Run) -> None:
    ended = epochfuzz("explore", *TOY, "--protocol", "eager")
    assert ended.code == 1, ended.err
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert lines[:7] == [
        "eager · no-loss · replicas=3 records=2 elections=2",
        "memory for states: at most 4 GiB",
        "0 length[A] 0, length[B] 0, length[C] 0, leader A, promised 0, held 0",
        "1 append A length[A] 0 -> 1, promised 0 -> 1",
        "2 elect B leader A -> B, held 0 -> 1",
        "BROKEN: no-loss",
        "eager breaks no-loss: 2 events, and no schedule is shorter",
    ]


def test_explore_accepts_settings_of_the_model_and_rejects_unknown_settings(epochfuzz: Run) -> None:
    found = epochfuzz("explore", *TOY, "--protocol", "patient", "--replicas", 2, "--records", 1, "--json").json
    assert found["configuration"] == {"replicas": 2, "records": 1, "elections": 2}
    assert (found["complete"], found["broken"]) == (True, False)
    refused = epochfuzz("explore", *TOY, "--protocol", "patient", "--epochs", 2)
    assert refused.code == 2
    assert "unknown setting 'epochs'; the settings are replicas, records, elections" in refused.err


def test_fuzz_finds_the_shortest_schedule_and_names_the_protocol_that_broke_nothing(epochfuzz: Run) -> None:
    words = ("--protocol", "eager", "--protocol", "patient", "--schedules", 500, "--seed", 7)
    ended = epochfuzz("fuzz", *TOY, *words)
    assert (ended.code, ended.err) == (1, "")
    assert "eager breaks no-loss in 2 events, certified minimal;" in ended.out
    assert "patient broke nothing" in ended.out
    (found,) = epochfuzz("fuzz", *TOY, *words, "--certify", 0, "--json").json["findings"]
    assert (found["protocol"], found["events"]) == ("eager", ["append A", "elect B"])
    assert not found["certified_minimal"]


def test_shrink_writes_a_case_that_replays_as_expected(epochfuzz: Run, case: Path) -> None:
    shrunk = epochfuzz("shrink", case, *TOY, "--protocol", "eager", "--certify", "all")
    assert (shrunk.code, "certified minimal" in shrunk.err) == (0, True)
    case.write_text(shrunk.out, encoding="utf-8")
    assert "events:\n  - append A\n  - elect B\n" in shrunk.out
    replayed = epochfuzz("replay", case, *TOY, "--json").json
    assert replayed["cases"] == [
        {"id": "lost-shrunk", "protocol": "eager", "broken": ["no-loss"], "at": 2, "as_expected": True}
    ]


def test_replay_compares_a_run_with_the_expectations_of_the_case(epochfuzz: Run, case: Path) -> None:
    assert epochfuzz("replay", case, *TOY).code == 0
    traced = epochfuzz("replay", case, *TOY, "--protocol", "stubborn", "--trace")
    assert traced.code == 0
    assert "BROKEN: agreement, if this is the end" in traced.out
    assert "the case does not say" in traced.out
    case.write_text(CASE.replace("at: 4", "at: 3"), encoding="utf-8")
    assert epochfuzz("replay", case, *TOY).code == 1


@pytest.mark.parametrize(
    ("was", "said"),
    [
        ("append A, copy", "drop A, copy"),
        ("records: 2,", "records: many,"),
        ("elections: 2}", "epochs: 2}"),
        ("eager:", "lazy:"),
        ("no-loss", "no-gain"),
    ],
)
def test_replay_reports_an_error_in_a_case_with_its_line(epochfuzz: Run, case: Path, was: str, said: str) -> None:
    case.write_text(CASE.replace(was, said), encoding="utf-8")
    ended = epochfuzz("replay", case, *TOY)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"epochfuzz: {case}:")
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("model", "text", "said"),
    [
        ("log", "", "--model must be MODULE:NAME, such as mylog:LOG; got 'log'"),
        ("no_such_module:LOG", "", "there is no module 'no_such_module', here or installed"),
        ("own_1:LOG", "import no_such_module", "own_1.py:1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("own_2:LOG", "\n\n1 / 0", "own_2.py:3: ZeroDivisionError: division by zero"),
        ("own_3:LOG", "LOG = (", "own_3.py:1: '(' was never closed"),
        ("own_4:LOG", "LOG = 1", "own_4 has no model 'LOG'; it has no model"),
        ("own_5:GOL", "from tests.engine.toy import LOG", "own_5 has no model 'GOL'; its models are LOG"),
    ],
)
def test_explore_reports_a_model_that_cannot_be_loaded_in_one_line(
    epochfuzz: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, text: str, said: str
) -> None:
    (tmp_path / f"{model.partition(':')[0]}.py").write_text(text, encoding="utf-8") if text else None
    monkeypatch.chdir(tmp_path)
    ended = epochfuzz("explore", "--model", model, "--protocol", "eager")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


OWN = """
from epochfuzz.model.core.fields import Field
from epochfuzz.model.core.simple_model import Property, Verb, simple_model, up_to

def count(p, r):
    {rule}
    return 0

def is_over(p):
    return p.counted > 5

COUNTER = simple_model(
    "counter", fields=[Field("counted", up_to("numbers"))], verbs=[Verb(count)],
    properties=[Property("not-over", is_over)], settings={{"replicas": 1, "numbers": 3}}, bounds=["numbers"],
    protocols={{"plain": {{}}}},
)
"""


WORDS = """
from epochfuzz.model.core.model import APPLIED

def in_words(before, event, reason, after):
    if reason != APPLIED:
        return f"reason {{reason}}"
    return f"from {{before.counted}} to {{after.counted}}"
"""
COUNTED = """\
schema: 1
id: counted
why: The second event is not enabled.
events: [count A, count A]
"""


def test_replay_describes_a_step_in_the_words_of_the_model(
    epochfuzz: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (WORDS + OWN).format(rule="if p.counted: return 2\n    p.counted += 1")
    words = "describe_state=lambda p: 'no number', describe_step=in_words,"
    (tmp_path / "own_words.py").write_text(text.replace('"counter",', f'"counter", {words}'), encoding="utf-8")
    (tmp_path / "counted.yaml").write_text(COUNTED, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    traced = epochfuzz("replay", "counted.yaml", "--model", "own_words:COUNTER", "--protocol", "plain", "--trace")
    assert [" ".join(line.split()) for line in traced.out.splitlines()[2:5]] == [
        "0 no number",
        "1 count A from 0 to 1",
        "2 count A reason 2",
    ]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "rule", "said"),
    [
        ("unlinked", "p.counted += unheard_of", "count cannot be linked: unheard_of is not defined"),
        ("uncompiled", "p.counted += 'one'", "a rule cannot be compiled"),
        ("unbounded", "p.counted += 1", "counted is 4, and declared to be from 0 to 3"),
    ],
)
def test_explore_reports_why_a_rule_cannot_run(
    epochfuzz: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, rule: str, said: str
) -> None:
    (tmp_path / f"{name}.py").write_text(OWN.format(rule=rule), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ended = epochfuzz("explore", "--model", f"{name}:COUNTER", "--protocol", "plain")
    assert ended.code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("explore", "--protocol", "lazy"), "unknown protocol 'lazy'; the protocols are eager, patient, stubborn"),
        (("explore",), "the protocols are eager, patient, stubborn"),
        (("fuzz",), "the protocols are eager, patient, stubborn"),
        (("explore", "--protocol", "eager", "--property", "x"), "the properties are no-loss, agreement"),
        (("explore", "--protocol", "eager", "--out", "x"), "--out"),
        (("fuzz", "--protocol", "eager", "--ablate", "eager"), "--ablate"),
        (("fuzz", "--protocol", "eager", "--schedules", 1, "--for", "1s"), "give only one"),
    ],
)
def test_commands_reject_options_that_are_invalid_for_the_model(
    epochfuzz: Run, words: tuple[object, ...], said: str
) -> None:
    ended = epochfuzz(*words, *TOY)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


def test_explore_with_model_gives_equal_results_for_kafkas_own_model(epochfuzz: Run) -> None:
    words = ("--protocol", "hw", "--records", 1, "--epochs", 2, "--json")
    through, known = (
        epochfuzz("explore", "--model", "epochfuzz.model.kafka.kafka_model:KAFKA", *words),
        epochfuzz("explore", *words),
    )
    same = ("states", "transitions", "depth", "complete", "length", "shortest")
    assert [through.json[name] for name in same] == [known.json[name] for name in same]


def test_parsing_the_texts_of_events_returns_the_events() -> None:
    every = LOG.settings.alphabet()
    assert bytes(map(LOG.events.parse, LOG.events.texts(every))) == every
