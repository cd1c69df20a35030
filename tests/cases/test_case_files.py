"""Case files: reading, error messages and writing."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epochfuzz.harness.cases.case import (
    Case,
    CaseError,
    CheckedState,
    Expectation,
    OnSystem,
    dump_case,
    load_case,
)
from epochfuzz.harness.cases.corpus import CorpusError, find_cases, load_corpus
from epochfuzz.model.kafka.contract.properties import NAMES
from epochfuzz.model.kafka.vocabulary.configuration import ACKS, MIN_REPLICAS, Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import MAX_REPLICAS
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, alphabet, parse_schedule

CASE = """\
schema: 1
id: a-case
why: >-
  Two lines
  of prose.
config: {replicas: 3, acks: 1, unclean_leader_election: yes}
events:
  - produce A
  - fetch B
expect:
  hw: {broken: [no-acked-loss, isr-complete], at: 2}
  kip-320:fencing=none: {broken: [], permitted: []}
states:
  - {after: 0, protocol: hw, A: {up: true, leader_epoch: 0, log: []}, controller: {leader: A, epoch: 0, isr: [C, A]}}
  - {after: 2, protocol: hw, B: {log: [m0@0, m14@2], leo: 2, hw: 1, epochs: [[0, 0], [2, 1]], leader: null}}
provenance: {seed: 7, certified_minimal: false, protocol: hw, fingerprint: {hw: 0f1e2d3c4b5a6978}}
"""

Write = Callable[[str | bytes], Path]
unhurried = settings(deadline=None, max_examples=50)  # a deadline would measure the machine


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(content: str | bytes) -> Path:
        path = tmp_path / "case.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def refusal(path: Path) -> str:
    with pytest.raises(CaseError) as caught:
        load_case(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_load_case_reads_every_key_of_a_case_file(write: Write) -> None:
    path = write(CASE)
    assert load_case(path) == Case(
        id="a-case",
        why="Two lines of prose.",
        settings=Configuration(replicas=3, acks="1", unclean_leader_election=True),
        events=parse_schedule(["produce A", "fetch B"]),
        expect={
            "hw": Expectation(("no-acked-loss", "isr-complete"), at=2),
            "kip-320:fencing=none": Expectation((), permitted=()),
        },
        states=(
            CheckedState(
                0,
                "hw",
                {
                    "replicas": {"A": {"up": True, "leader_epoch": 0, "log": []}},
                    "controller": {"leader": "A", "epoch": 0, "isr": ["A", "C"]},
                },
            ),
            CheckedState(
                2,
                "hw",
                {
                    "replicas": {
                        "B": {
                            "log": [["m0", 0], ["m14", 2]],
                            "leo": 2,
                            "hw": 1,
                            "epochs": [[0, 0], [2, 1]],
                            "leader": None,
                        }
                    }
                },
            ),
        ),
        provenance={
            "seed": 7,
            "certified_minimal": False,
            "protocol": "hw",
            "fingerprint": {"hw": "0f1e2d3c4b5a6978"},
        },
    )
    assert load_case(path).path == path


def test_a_case_requires_only_schema_id_why_and_events(write: Write) -> None:
    case = load_case(write("{schema: 1, id: x, why: because, events: [produce A]}"))
    assert case == Case("x", "because", Configuration(), parse_schedule(["produce A"]))
    assert case.protocols == []


@pytest.mark.parametrize(("written", "acks"), [("0", "0"), ("1", "1"), ("all", "all"), ("'1'", "1")])
def test_acks_may_be_a_number_or_a_word(write: Write, written: str, acks: str) -> None:
    assert load_case(write(CASE.replace("acks: 1", f"acks: {written}"))).settings.acks == acks


# A text in CASE, its replacement, the line of the error, and a part of the message.
ERRORS: list[tuple[str, str, int, str]] = [
    # the whole
    ("schema: 1", "schema: 2", 1, "schema must be 1, the only one this version reads; got '2'"),
    ("schema: 1", "schema: true", 1, "schema must be 1"),
    ("schema: 1\n", "", 1, "the case has no 'schema'; add it"),
    ("id: a-case\n", "", 1, "the case has no 'id'"),
    ("expect:", "expct:", 10, "unknown key 'expct' in the case; did you mean 'expect'?"),
    ("provenance:", "zzz:", 16, "unknown key 'zzz' in the case; there is schema, id, why, events, config"),
    ("id: a-case", "id: a-case\nid: b", 3, "key 'id' comes twice in the case; keep one"),
    ("id: a-case", "id: A case", 2, "id 'A case' is not a slug"),
    (
        "id: a-case",
        "id: 12",
        2,
        "id must be text (in quotes if it looks like a number, a date or yes and no); got",
    ),
    ("id: a-case", "id: 2024-01-01", 2, "id must be text"),
    (
        "id: a-case",
        "id:",
        2,
        "id must be text (in quotes if it looks like a number, a date or yes and no)",
    ),
    ("id: a-case", "[id]: a-case", 2, "a key of the case must be a single word; got a list"),
    ("why: >-\n  Two lines\n  of prose.", 'why: "\\e[31m"', 3, "why must be printable text"),
    # config
    ("replicas: 3", "replicas: 9", 6, "replicas must be from 2 to 5; got 9"),
    ("replicas: 3", "replicas: three", 6, "replicas must be a whole number from 2 to 5; got 'three'"),
    ("replicas: 3", "replicas: [3]", 6, "replicas must be a single value; got a list"),
    ("replicas: 3", "replicas: 003", 6, "replicas must be a whole number"),
    ("replicas: 3", "replicas: 3, min_insync_replicas: 4", 6, "min_insync_replicas must be from 1 to 3"),
    ("replicas: 3", "replica: 3", 6, "unknown key 'replica' in config; did you mean 'replicas'?"),
    ("acks: 1", "acks: 2", 6, "acks must be 0, 1 or all; got '2'"),
    ("unclean_leader_election: yes", "unclean_leader_election: 1", 6, "unclean_leader_election must be true or false"),
    ("config: {replicas: 3, acks: 1, unclean_leader_election: yes}", "config:", 6, "config must be a mapping"),
    # events
    ("- fetch B", "- fetsh B", 9, "unknown event 'fetsh'; did you mean 'fetch'?"),
    ("- fetch B", "- fetch F", 9, "unknown replica 'F'"),
    ("- fetch B", "- fetch", 9, "an event is a verb and a replica, such as 'fetch B'"),
    ("- fetch B", "- fetch: B", 9, "an event must be text"),
    ("- fetch B", "- fetch D", 9, "'fetch D' is out of range: with 3 replicas the last is C"),
    ("  - produce A\n  - fetch B", "  []", 8, "events has 0 events"),
    ("  - produce A\n  - fetch B", "  produce A", 8, "events must be a list; got 'produce A'"),
    # expect
    ("  hw: {broken", "  hv: {broken", 11, "unknown protocol 'hv'; the protocols are hw, kip-101"),
    ("kip-320:fencing=none", "kip-320:fencing=maybe", 12, "unknown choice 'maybe' for fencing"),
    ("kip-320:fencing=none", "'kip-320: fencing=none'", 12, "write 'kip-320:fencing=none'"),
    ("no-acked-loss", "no-aked-loss", 11, "unknown property 'no-aked-loss'; did you mean 'no-acked-loss'?"),
    ("broken: [no-acked-loss, isr-complete]", "broken: isr-complete", 11, "broken must be a list; got 'isr-complete'"),
    ("broken: [no-acked-loss, isr-complete], at", "at", 11, "hw has no 'broken'; add it"),
    ("at: 2", "at: 3", 11, "at must be a whole number from 1 to 2; got '3'"),
    ("at: 2", "at: 0", 11, "at must be a whole number from 1 to 2; got '0'"),
    ("at: 2", "at: true", 11, "at must be a whole number"),
    ("broken: [], permitted: []", "broken: [], at: 1", 12, "at says when a property breaks, but broken names none"),
    # states
    ("after: 2", "after: 3", 15, "after must be a whole number from 0 to 2; got '3'"),
    ("after: 2, protocol: hw", "after: 2", 15, "a state has no 'protocol'"),
    ("after: 2, protocol: hw", "after: 2, protocol: h", 15, "unknown protocol 'h'"),
    (", B: {log", ", D: {log", 15, "unknown key 'D' in a state; there is after, protocol, A, B, C, controller"),
    ("hw: 1", "leader_epohc: 1", 15, "unknown key 'leader_epohc' in B; did you mean 'leader_epoch'?"),
    ("leo: 2", "leo: -1", 15, "leo must be a whole number from 0; got '-1'"),
    ("m14@2", "m14", 15, "'m14' is not a record; write it as record@epoch, such as m0@0"),
    ("[2, 1]", "[2]", 15, "an entry of epochs must be a pair, [epoch, start offset]"),
    ("leader: null", "leader: F", 15, "unknown replica 'F'; there is A, B, C, D, E"),
    ("up: true", "up: 1", 14, "up must be true or false; got '1'"),
    (
        "A: {up: true, leader_epoch: 0, log: []}, controller: {leader: A, epoch: 0, isr: [C, A]}",
        "",
        14,
        "names no replica",
    ),
    # provenance
    ("seed: 7", "sed: 7", 16, "unknown key 'sed' in provenance; did you mean 'seed'?"),
    ("seed: 7", "seed: 0.5", 16, "seed must be a whole number from 0; got '0.5'"),
    ("0f1e2d3c4b5a6978", "0f1e", 16, "fingerprint '0f1e' is not 16 hexadecimal digits"),
    # YAML
    ("[no-acked-loss, isr-complete]", "[no-acked-loss, isr-complete", 11, "not YAML: "),
    ("  - fetch B", "\t- fetch B", 9, "not YAML: while scanning for the next token, found character '\\t'"),
    ("  - fetch B", "  - &b fetch B", 9, "anchors and aliases are not allowed; write the value out"),
    ("  - fetch B", "  - *b", 9, "anchors and aliases are not allowed"),
    ("  - fetch B", "  - !!str fetch B", 9, "tags such as 'tag:yaml.org,2002:str' are not allowed; remove the tag"),
    ("  - fetch B", "  - !!python/object/apply:os.system [ls]", 9, "tags such as"),
    ("  - fetch B", "  - {<<: {a: 1}}", 9, "merge keys (<<) are not allowed; write the keys out"),
    ("  - fetch B", "  - " + "[" * 100_000, 9, "nested more than 8 deep"),
    ("  - fetch B", '  - "\\U99999999"', 9, "not YAML: a number is out of range"),
    ("  - fetch B", '  - "\\ud800"', 9, "an event must be printable text"),
    ("  - fetch B", "  - fetch \x07", 9, "not text: it has the control character"),
    ("  - fetch B", "  - " + "x" * 100_000, 9, "an event is a verb and a replica"),
    ("provenance:", "---\nprovenance:", 16, "not YAML: expected a single document in the stream"),
]


@pytest.mark.parametrize(("old", "new", "line", "says"), ERRORS, ids=[says for *_, says in ERRORS])
def test_the_message_for_an_error_in_a_case_file_names_the_line(
    write: Write, old: str, new: str, line: int, says: str
) -> None:
    assert CASE.count(old) >= 1
    path = write(CASE.replace(old, new, 1))
    message = refusal(path)
    assert message.startswith(f"{path}:{line}: ")
    assert says in message


def test_the_error_for_a_setting_on_its_own_line_names_that_line(write: Write) -> None:
    path = write("schema: 1\nid: x\nwhy: y\nconfig:\n  replicas: 2\n  records: 99\nevents: [produce A]\n")
    assert refusal(path) == f"{path}:6: records must be from 1 to 15; got 99"


@pytest.mark.parametrize("content", ["", "\n\n", "# a comment\n"])
def test_the_error_for_an_empty_file_says_that_the_file_is_empty(write: Write, content: str) -> None:
    assert refusal(write(content)).endswith(":1: the file is empty; a case has at least schema, id, why and events")


def test_a_case_file_that_is_not_a_mapping_is_an_error(write: Write) -> None:
    assert ":1: the case must be a mapping, 'key: value'; got a list" in refusal(write("- produce A"))


def test_the_error_for_a_file_that_is_not_utf_8_names_the_line_of_the_first_wrong_byte(write: Write) -> None:
    assert ":2: the file is not UTF-8 text; save it as UTF-8" in refusal(write(b"schema: 1\nid: \xff\n"))


def test_a_file_over_one_mebibyte_is_not_read(write: Write) -> None:
    assert "over 1 MiB" in refusal(write("# " + "x" * (1 << 20)))


def test_a_yaml_alias_bomb_is_an_error_at_its_first_anchor(write: Write) -> None:
    bomb = "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\nevents: [*c, *c, *c]\n"
    assert ":1: anchors and aliases are not allowed" in refusal(write(bomb))


def test_the_error_for_a_missing_file_names_the_file(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.yaml") == f"{tmp_path}/none.yaml: the file does not exist; check the path"


def test_a_path_that_no_file_can_have_is_an_error() -> None:
    assert "the file does not exist" in refusal(Path("a\0b"))
    assert "cannot be read" in refusal(Path("x" * 5000))


def test_a_directory_is_not_a_case(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path}: this is a directory; name a case file"


def test_the_error_for_an_unreadable_file_says_permission_denied(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write(CASE)
    monkeypatch.setattr(Path, "open", denied)
    assert refusal(path) == f"{path}: the file cannot be read (Permission denied); check path and permissions"


def test_a_long_value_does_not_flood_the_message(write: Write) -> None:
    assert len(refusal(write(CASE.replace("no-acked-loss", "x" * 100_000)))) < 700


@unhurried
@given(content=st.binary(max_size=100))
def test_arbitrary_bytes_raise_only_a_case_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.yaml"
    path.write_bytes(content)
    refusal(path)


@unhurried
@given(at=st.integers(0, len(CASE)), cut=st.integers(0, 12), put=st.text("{}[]:-,&*!|>'\"%@#? \n\t0aé\\", max_size=6))
def test_an_edited_case_loads_or_raises_a_case_error(
    tmp_path_factory: pytest.TempPathFactory, at: int, cut: int, put: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "edited.yaml"
    path.write_text(CASE[:at] + put + CASE[at + cut :], encoding="utf-8")
    with contextlib.suppress(CaseError):
        load_case(path)


def test_dump_case_writes_the_layout_of_handwritten_cases() -> None:
    case = Case(
        id="m1-loss",
        why="m1 is lost. " * 12 + "The end.",
        settings=Configuration(acks="1", power_loss=True),
        events=parse_schedule(["produce A", "fetch B"]),
        expect={
            "hw": Expectation(("no-committed-loss",), at=2),
            "kip-320:fencing=none": Expectation((), permitted=("no-acked-loss",)),
        },
        states=(
            CheckedState(
                2,
                "hw",
                {
                    "replicas": {"A": {"log": [["m0", 0]], "leo": 1, "leader": "A"}, "B": {"leader": None}},
                    "controller": {"isr": ["A", "B"]},
                },
            ),
        ),
        provenance={"seed": 7, "certified_minimal": True, "fingerprint": {"hw": "1234567890123456"}},
    )
    assert (
        dump_case(case)
        == """\
schema: 1
id: m1-loss
why: >-
  m1 is lost. m1 is lost. m1 is lost. m1 is lost. m1 is lost. m1 is lost. m1 is lost. m1 is lost.
  m1 is lost. m1 is lost. m1 is lost. m1 is lost. The end.
config: {replicas: 2, acks: 1, power_loss: true}
events:
  - produce A
  - fetch B
expect:
  hw: {broken: [no-committed-loss], at: 2}
  kip-320:fencing=none: {broken: [], permitted: [no-acked-loss]}
states:
  - {after: 2, protocol: hw, A: {log: [m0@0], leo: 1, leader: A}, B: {leader: null}, controller: {isr: [A, B]}}
provenance: {seed: 7, certified_minimal: true, fingerprint: {hw: '1234567890123456'}}
"""
    )


PROTOCOLS = st.sampled_from(["hw", "kip-101", "kip-320:fencing=none,truncation=leader_epoch"])
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=15)
PROSE = st.lists(WORDS, min_size=1, max_size=15).map(" ".join)
NUMBERS = st.integers(0, 2**63)
BROKEN = st.lists(st.sampled_from(NAMES), unique=True, max_size=3).map(tuple)
LOGS = st.lists(st.tuples(st.integers(0, 14).map("m{}".format), st.integers(0, 14)).map(list), max_size=3)
PROVENANCES = st.fixed_dictionaries(
    {},
    optional={
        "seed": NUMBERS,
        "schedule": NUMBERS,
        "shrunk_from": NUMBERS,
        "certified_minimal": st.booleans(),
        "protocol": PROTOCOLS,
        "property": st.sampled_from(NAMES),
        "fingerprint": st.dictionaries(PROTOCOLS, st.text("0123456789abcdef", min_size=16, max_size=16)),
    },
)


def configurations() -> st.SearchStrategy[Configuration]:
    return st.builds(
        Configuration,
        replicas=st.integers(MIN_REPLICAS, MAX_REPLICAS),
        acks=st.sampled_from(list(ACKS)),
        min_insync_replicas=st.integers(1, MIN_REPLICAS),
        power_loss=st.booleans(),
        epochs=st.integers(0, 3),
    )


@st.composite
def expectations(draw: st.DrawFn, length: int) -> Expectation:
    broken = draw(BROKEN)
    at = draw(st.none() | st.integers(1, length)) if broken else None
    return Expectation(broken, at, draw(st.none() | BROKEN))


@st.composite
def on_systems(draw: st.DrawFn, length: int) -> OnSystem:
    expected = draw(expectations(length))
    return OnSystem(expected.broken, expected.at, expected.permitted, draw(st.none() | st.just("apache/fluss#4269")))


def checked_states(replicas: int, length: int) -> st.SearchStrategy[CheckedState]:
    letters = st.sampled_from(REPLICA_NAMES)
    replica: dict[str, st.SearchStrategy[Any]] = {
        "up": st.booleans(),
        "log": LOGS,
        "leo": NUMBERS,
        "hw": NUMBERS,
        "epochs": st.lists(st.tuples(NUMBERS, NUMBERS).map(list), max_size=2),
        "leader": st.none() | letters,
        "leader_epoch": st.none() | NUMBERS,
    }
    controller = {"leader": st.none() | letters, "epoch": NUMBERS, "isr": st.lists(letters, unique=True).map(sorted)}
    by_letter = st.dictionaries(
        st.sampled_from(REPLICA_NAMES[:replicas]), st.fixed_dictionaries({}, optional=replica), min_size=1
    )
    observations = st.fixed_dictionaries(
        {"replicas": by_letter}, optional={"controller": st.fixed_dictionaries({}, optional=controller)}
    )
    return st.builds(CheckedState, st.integers(0, length), PROTOCOLS, observations)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    configuration = draw(configurations())
    events = bytes(draw(st.lists(st.sampled_from(alphabet(configuration.replicas)), min_size=1, max_size=5)))
    return Case(
        id=draw(st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True)),
        why=draw(PROSE),
        settings=configuration,
        events=events,
        expect=draw(st.dictionaries(PROTOCOLS, expectations(len(events)))),
        states=tuple(draw(st.lists(checked_states(configuration.replicas, len(events)), max_size=2))),
        provenance=draw(st.none() | PROVENANCES),
        systems=draw(st.dictionaries(st.sampled_from(["fluss-0.9.1", "rocketmq-5.5.1"]), on_systems(len(events)))),
    )


@unhurried
@given(case=cases())
def test_loading_a_written_case_returns_an_equal_case(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    path = tmp_path_factory.getbasetemp() / "written.yaml"
    path.write_text(dump_case(case), encoding="utf-8")
    read = load_case(path)
    assert read == case
    assert dump_case(read) == dump_case(case)


def test_find_cases_searches_directories_recursively_in_order(tmp_path: Path) -> None:
    for name in ("b/one.yaml", "a.yaml", "b/c/two.yaml", "b/notes.txt", "z.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    found = find_cases([tmp_path / "z.yaml", tmp_path])
    assert [str(path.relative_to(tmp_path)) for path in found] == ["z.yaml", "a.yaml", "b/c/two.yaml", "b/one.yaml"]


def test_a_directory_without_cases_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="there is no case file"):
        find_cases([tmp_path])


def test_load_corpus_reports_every_invalid_file_and_loads_the_others(tmp_path: Path) -> None:
    for name, text in (("a.yaml", "schema: 2"), ("b.yaml", CASE), ("c\x1b.yaml", "\x1b"), ("d.yaml", CASE)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError) as caught:
        load_corpus([tmp_path])
    places = [line.partition(": ")[0] for line in str(caught.value).splitlines()]
    assert places == [f"{tmp_path}/{name}" for name in ("a.yaml:1", "c\\x1b.yaml:1", "d.yaml")]
    assert [case.path for case in caught.value.cases] == [tmp_path / "b.yaml"]


def test_dump_case_escapes_unprintable_characters_of_why(tmp_path: Path) -> None:
    path = tmp_path / "written.yaml"
    case = Case("a-case", "it said \x1b[31mred\u202e", Configuration(), parse_schedule(["produce A"]))
    path.write_text(dump_case(case), encoding="utf-8")
    assert load_case(path).why == "it said \\x1b[31mred\\u202e"


def test_the_error_for_a_duplicate_id_names_both_files(tmp_path: Path) -> None:
    for name in ("first.yaml", "second.yaml"):
        (tmp_path / name).write_text(CASE, encoding="utf-8")
    with pytest.raises(CaseError) as caught:
        load_corpus([tmp_path])
    assert str(caught.value).startswith(f"{tmp_path}/second.yaml: id 'a-case' is also the id of {tmp_path}/first.yaml;")
