"""Files that commands write: no command overwrites an input or a file of another kind."""

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.test_command_line_help import COMMANDS

M1_LOSS = Path(__file__).parents[2] / "corpus" / "documents" / "m1-loss.yaml"
WALK = ("fuzz", "--protocol", "hw", "--schedules", "200", "--seed", "1", "--certify", "0")
FORMATS = ("terminal", "svg", "mermaid", "tla", "itf")
KINDS = [
    pytest.param(("report", "a.yaml", "--out"), "an HTML page", id="report"),
    *(
        pytest.param(("replay", "a.yaml", "--protocol", "hw", "--format", each, "--out"), "", id=each)
        for each in FORMATS
    ),
    pytest.param((*WALK, "--report"), "an HTML page", id="fuzz --report"),
    pytest.param((*WALK, "--sarif"), "a SARIF file", id="fuzz --sarif"),
    pytest.param(("bench", "--write"), "results of epochfuzz bench", id="bench"),
    pytest.param(("campaign", "report", "none", "--out"), "an HTML page", id="campaign report --out"),
    pytest.param(("campaign", "report", "none", "--sarif"), "a SARIF file", id="campaign report --sarif"),
]
WRITING = [each for each in KINDS if each.id not in ("bench",) and not str(each.id).startswith("campaign")]


@pytest.fixture(autouse=True)
def in_a_directory_with_a_case(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(M1_LOSS, "a.yaml")


@pytest.mark.parametrize(("words", "kind"), KINDS)
def test_no_command_overwrites_a_case_file(epochfuzz, words, kind):
    before = Path("a.yaml").read_bytes()
    ended = epochfuzz(*words, "a.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert f"{words[-1]}: a.yaml: it is there already, and is not {kind}" in ended.err
    assert Path("a.yaml").read_bytes() == before


@pytest.mark.thorough
@pytest.mark.parametrize(("words", "kind"), WRITING)
def test_a_command_overwrites_a_file_that_has_the_format_of_its_output(epochfuzz, words, kind):
    Path("written").touch()  # an empty file is of any kind
    code = epochfuzz(*words, "written").code
    assert code in (0, 4)  # 4: so few schedules meet too few goals
    first = Path("written").read_bytes()
    assert epochfuzz(*words, "written").code == code
    assert len(Path("written").read_bytes()) == pytest.approx(len(first), rel=0.01)


def test_replay_does_not_overwrite_a_drawing_in_another_format(epochfuzz):
    draw = ("replay", "a.yaml", "--protocol", "hw", "--out", "x", "--format")
    for format_ in FORMATS:
        assert epochfuzz(*draw, format_).code == 0
        assert {other: epochfuzz(*draw, other).code for other in FORMATS} == dict.fromkeys(FORMATS, 2) | {format_: 0}
        Path("x").unlink()


@pytest.mark.parametrize(("words", "kind"), KINDS)
@pytest.mark.parametrize(
    ("place", "complaint"),
    [
        ("none/x", "cannot be written: there is no directory none; name another file"),
        ("folder", "it is a directory; name another file"),
        ("x" * 300, "cannot be written: File name too long; name another file"),
    ],
    ids=["no directory", "a directory", "a long name"],
)
def test_a_command_stops_before_its_work_if_the_output_file_cannot_be_written(epochfuzz, words, kind, place, complaint):
    Path("folder").mkdir()
    ended = epochfuzz(*words, place)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.strip() == f"epochfuzz: {words[-1]}: {place}: {complaint}"


def test_fuzz_stops_if_two_options_name_the_same_file(epochfuzz):
    ended = epochfuzz(*WALK, "--report", "x", "--sarif", "./x")
    assert (ended.code, ended.out) == (2, "")
    assert "--report and --sarif name the same file, x; name two files" in ended.err
    assert not Path("x").exists()


def test_report_writes_to_a_device(epochfuzz):
    assert epochfuzz("report", "a.yaml", "--out", os.devnull).code == 0


def test_corpus_add_does_not_replace_a_file(epochfuzz):
    kept = Path("corpus/found/m1-loss.yaml")
    kept.parent.mkdir(parents=True)
    kept.write_text(Path("a.yaml").read_text().replace("id: m1-loss", "id: other").replace("offset", "place"))
    before = kept.read_bytes()
    other = Path("a.yaml").read_text().replace("- produce A\n", "- produce A\n  - produce A\n", 1)
    Path("a.yaml").write_text(other)
    ended = epochfuzz("corpus", "add", "a.yaml", "--yes")
    assert ended.code == 2
    assert "corpus/found/m1-loss.yaml: cannot be written: File exists" in ended.err
    assert kept.read_bytes() == before


LEAVES = {path: command for path, command in COMMANDS.items() if not hasattr(command, "commands")}
VALUES = [
    pytest.param((*path, option.opts[0], ""), option.opts[0], id=" ".join((*path, option.opts[0])))
    for path, command in LEAVES.items()
    for option in command.params
    if option.opts[0].startswith("--") and not getattr(option, "is_flag", False)
]


@pytest.mark.parametrize(("words", "option"), VALUES)
def test_an_empty_option_value_is_an_error_and_not_the_working_directory(epochfuzz, words, option):
    ended = epochfuzz(*words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"epochfuzz: {option}: the value is empty; give a value\n"
    assert os.listdir() == ["a.yaml"]


@pytest.mark.parametrize(
    "words", [("replay", ""), ("audit", ""), ("report", "", "--out", "x"), ("campaign", "resume", "")]
)
def test_an_empty_argument_is_an_error_and_not_the_working_directory(epochfuzz, words):
    ended = epochfuzz(*words)
    assert (ended.code, ended.out) == (2, "")
    assert ": the value is empty; give a value" in ended.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("conform --timeout inf -- true", "--timeout must be from 0.01 to 1000000; got"),
        ("conform --timeout 1e300 -- true", "--timeout must be from 0.01 to 1000000; got"),
        ("shrink a.yaml --protocol hw --memory inf", "--memory must be at most 1000000000; got inf"),
        ("explore --protocol hw --memory 1e300", "--memory must be at most 1000000000; got 1e+300"),
        (f"fuzz --schedules {10**30}", f"--schedules must be at most 9223372036854775807; got {10**30}"),
        (f"fuzz --for {10**30}h", f"--for must be at most 100000h; got {10**30}h"),
    ],
)
def test_a_command_stops_with_a_message_if_a_number_is_too_large(epochfuzz, words, complaint):
    ended = epochfuzz(*words.split())
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err


LONG = "x" * 300


@pytest.mark.parametrize(
    "words",
    [
        ("replay", LONG),
        ("replay", f"{LONG}/a.yaml"),
        ("report", LONG, "--out", "x"),
        ("shrink", LONG, "--protocol", "hw"),
        ("new-case", f"{LONG}.yaml", "--protocol", "hw"),
        ("corpus", "add", LONG),
        ("corpus", "add", "a.yaml", "--yes", "--corpus", LONG),
        ("play", LONG),
        ("play", "--out", LONG),
        (*WALK, "--out", LONG),
        (*WALK, "--out", "x", "--new", "--corpus", LONG),
        ("conform", "--known", LONG, "--", "true"),
        ("conform", "--corpus", LONG, "--", "true"),
        ("conform", "--", f"./{LONG}"),
        ("audit", LONG),
        ("campaign", "report", LONG),
        ("campaign", "report", "--history", LONG),
        ("explore", "--protocol", "hw", "--tests", LONG),
    ],
    ids=lambda words: " ".join(words).replace(LONG, "LONG"),
)
def test_a_command_stops_with_a_message_if_a_file_name_has_more_than_255_characters(epochfuzz, words):
    ended = epochfuzz(*words)
    assert ended.code == 2
    assert "file name too long" in ended.err.lower()
    assert "Traceback" not in ended.err
