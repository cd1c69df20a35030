"""Commands that write drawings and reports: what goes to stdout, what to a file, and what cannot be done."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from epochfuzz.harness.cases.case import dump_case, load_case
from epochfuzz.harness.cli.main import app
from epochfuzz.harness.cli.output import BadInput
from epochfuzz.harness.links.position import MOST_EVENTS

DOCUMENTS = Path(__file__).parents[2] / "corpus" / "documents"
CASES = len(list(DOCUMENTS.glob("*.yaml")))
M1_LOSS = DOCUMENTS / "m1-loss.yaml"


def epochfuzz(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None, result.output
    return result


def complaint(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert isinstance(result.exception, BadInput) or result.exit_code == 2
    assert result.stdout == ""
    return str(result.exception) if isinstance(result.exception, BadInput) else result.stderr


@pytest.mark.parametrize(
    ("name", "start"),
    [("svg", "<svg "), ("mermaid", "sequenceDiagram"), ("tla", "---"), ("terminal", "hw breaks no-committed-loss")],
)
def test_replay_writes_a_drawing_to_stdout_or_to_the_output_file(tmp_path, name, start):
    printed = epochfuzz("replay", M1_LOSS, "--format", name)
    assert printed.stdout.startswith(start)
    assert "as expected" in printed.stderr
    file = tmp_path / "m1-loss"
    assert "as expected" in epochfuzz("replay", M1_LOSS, "--format", name, "--out", file).stdout
    assert file.read_text(encoding="utf-8") == printed.stdout


def test_a_tla_module_is_named_after_its_file(tmp_path):
    epochfuzz("replay", M1_LOSS, "--protocol", "hw", "--format", "tla", "--out", tmp_path / "Loss2.tla")
    assert " MODULE Loss2 " in (tmp_path / "Loss2.tla").read_text()


@pytest.mark.thorough
def test_a_report_of_a_directory_shows_each_case(tmp_path):
    file = tmp_path / "report.html"
    document = json.loads(epochfuzz("report", DOCUMENTS, "--out", file, "--json").stdout)
    assert document["report"] == str(file)
    assert [case["as_expected"] for case in document["cases"]] == [True] * CASES
    text = file.read_text(encoding="utf-8")
    assert all(f'<section class="exhibit held" id="{case["id"]}">' in text for case in document["cases"])


def test_report_exits_with_1_if_a_case_is_not_as_expected(tmp_path):
    case = tmp_path / "wrong.yaml"
    case.write_text(
        "schema: 1\nid: wrong\nwhy: Wrong.\nevents: [produce A]\nexpect:\n  hw: {broken: [no-divergence]}\n"
    )
    result = CliRunner().invoke(app, ["report", str(case), "--out", str(tmp_path / "r.html")], standalone_mode=False)
    assert result.return_value == 1
    assert "1 NOT as expected" in result.stdout


@pytest.mark.parametrize("arguments", [("replay", "--format", "svg"), ("report", "--out", "x.html")])
def test_a_drawing_command_stops_if_a_schedule_is_too_long_to_draw(tmp_path, arguments):
    case = tmp_path / "m1-loss.yaml"
    long = load_case(M1_LOSS)
    events = "\n".join(["events:", *["  - fetch B"] * (MOST_EVENTS + 1), "expect:"])
    text = dump_case(long)
    case.write_text(text[: text.index("events:")] + events + "\n  hw: {broken: []}\n")
    command, *options = arguments
    assert "501 events are too many to draw" in complaint(command, case, *options)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["fuzz", "--breaks", "hw", "--holds", "kip-101", "--sarif", "x"],
            "--sarif can't be combined with --breaks and --holds",
        ),
        (["report", M1_LOSS, "--out", "none/x.html"], "none/x.html: cannot be written: there is no directory none"),
        (["report", M1_LOSS], "Missing option '--out'"),
        (["report", M1_LOSS, "--out", "x.html", "--protocol", "kip-102"], "did you mean 'kip-101'?"),
        (["replay", DOCUMENTS, "--format", "svg"], f"--format draws one case, and these are {CASES}"),
        (["replay", M1_LOSS, "--format", "swg"], "--format must be terminal, svg, mermaid, tla or itf; got 'swg'"),
        (["replay", M1_LOSS, "--out", "x"], "--out needs --format"),
        (["replay", M1_LOSS, "--json", "--format", "tla"], "name a file for the drawing with --out"),
    ],
)
def test_a_command_with_invalid_output_options_stops_with_a_clear_message(arguments, said):
    assert said in " ".join(complaint(*arguments).split())
