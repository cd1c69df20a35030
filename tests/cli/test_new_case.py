"""`new-case` with answers from a pipe, and the case that it saves."""

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.harness.cli.main import app
from epochfuzz.harness.cli.output import BadInput
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS
from tests.printed import check_json

SHORTEST_LOSS = "produce A\nfetch B\nreceive B\nfetch B\ncrash B\nrestart B\nelect B\nnotify B\nnotify B\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "Lost m0.yaml"


def recorded(file: Path, answers: str, *options: str) -> Result:
    result = CliRunner().invoke(app, ["new-case", str(file), *options], input=answers)
    assert result.exception is None, result.output
    return result


def test_new_case_saves_the_results_of_each_reference_design_as_expectations(file):
    result = recorded(file, f"{SHORTEST_LOSS}save\nm0 is lost.\nquit\n", "--protocol", "hw")
    case = load_case(file)
    assert (case.id, case.why) == ("lost-m0", "m0 is lost.")
    assert schedule_texts(case.events) == SHORTEST_LOSS.split("\n")[:-1]
    assert {name: (each.broken[:1], each.at) for name, each in case.expect.items()} == {
        "hw": (("no-committed-loss",), 9),
        **dict.fromkeys(list(GENERATIONS)[1:], ((), None)),
    }
    assert judge(case).as_expected
    assert "hw breaks no-committed-loss at step 9" in result.output
    assert "not saved" not in result.output


def test_new_case_shows_the_state_the_effect_and_the_enabled_events_after_each_step(file):
    output = recorded(file, "produce A\n").output
    assert "0 start (kip-320)" in output
    assert "1 produce A (kip-320)" in output
    assert "A appends m0 at offset 0 in epoch 0." in output
    assert "8 shrink B" in output[output.index("1 produce A (kip-320)") :]
    assert "8 shrink B" not in output[: output.index("1 produce A (kip-320)")]


def test_new_case_accepts_an_event_by_number_or_by_name_in_upper_or_lower_case(file):
    recorded(file, "1\nFETCH b\n2\nsave\n\n")
    assert schedule_texts(load_case(file).events) == ["produce A", "fetch B", "receive B"]


def test_undo_removes_the_last_event(file):
    output = recorded(file, "undo\nproduce A\ncrash A\nundo\nfetch B\nsave\n\n").output
    assert "there is nothing to undo" in output
    assert schedule_texts(load_case(file).events) == ["produce A", "fetch B"]


def test_new_case_writes_the_story_of_a_case_if_the_user_gives_no_reason(file):
    recorded(file, "produce A\nfetch B\nsave\n")
    assert load_case(file).why.startswith("(1) A appends m0 at offset 0 in epoch 0. (2) A responds to B's fetch")


def test_new_case_records_a_power_loss_if_the_option_enables_power_losses(file):
    recorded(file, "produce C\nproduce A\npower_loss A\nsave\n\n", "--power-loss", "--replicas", "3")
    case = load_case(file)
    assert (case.settings.power_loss, case.settings.replicas) == (True, 3)
    assert schedule_texts(case.events) == ["produce A", "power_loss A"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("expand B", "expand B is not enabled: B is in the ISR"),
        ("fetch C", "fetch C is not enabled: there is no replica C"),
        ("fetsh B", "unknown event 'fetsh'; did you mean 'fetch'?"),
        ("udno", "unknown command 'udno'; did you mean 'undo'?"),
        ("fetch", "an event is a verb and a replica, such as 'fetch B'; got 'fetch'"),
        ("99", "there is no number 99; choose from 1 to 7"),
        ("9" * 5000, "choose from 1 to 7"),
        ("save", "there is nothing to save"),
        ("fetch B B", "an event is a verb and a replica"),
        ("\x00\xff", "unknown command"),
    ],
)
def test_new_case_explains_an_invalid_answer_and_keeps_the_schedule(file, answer, said):
    result = recorded(file, f"{answer}\nproduce A\nsave\n\n")
    assert said in result.output
    assert schedule_texts(load_case(file).events) == ["produce A"]


def test_new_case_prints_unsaved_events_when_the_user_quits(file):
    assert "not saved: produce A, fetch B" in recorded(file, "produce A\nfetch B\nquit\ncrash A\n").output
    assert not file.exists()


def test_new_case_prints_the_saved_case_as_json(file):
    result = recorded(file, "produce A\nsave\n\n", "--json")
    out = result.stdout
    check_json(["new-case", "--json"], out)
    document = json.loads(out)
    assert document["case"] == str(file)
    assert document["events"] == ["produce A"]
    assert document["protocols"]["hw"] == {"broken": [], "at": None}


def test_new_case_does_not_overwrite_a_file(file):
    file.write_text("mine")
    result = CliRunner().invoke(app, ["new-case", str(file)], input="produce A\nsave\n\n")
    assert isinstance(result.exception, BadInput)
    assert "is there already" in str(result.exception)
    assert file.read_text() == "mine"


def test_new_case_stops_before_the_first_question_if_the_directory_is_missing(tmp_path):
    result = CliRunner().invoke(app, ["new-case", str(tmp_path / "none" / "case.yaml")])
    assert isinstance(result.exception, BadInput)
    assert "there is no directory" in str(result.exception)


def test_new_case_saves_the_recorded_events_on_ctrl_c(epochfuzz, file, monkeypatch):
    answers = iter(["produce A", "fetch B"])

    def answer(prompt=""):
        try:
            return next(answers)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("builtins.input", answer)
    code, out, _ = epochfuzz("new-case", file)
    assert code == 130
    assert "kept" in out
    assert schedule_texts(load_case(file).events) == ["produce A", "fetch B"]


def test_a_line_typed_at_a_terminal_can_be_edited(file):
    terminal, keyboard = pty.openpty()
    command = [sys.executable, "-m", "epochfuzz", "new-case", str(file)]
    running = subprocess.Popen(
        command, stdin=keyboard, stdout=keyboard, stderr=keyboard, env=os.environ | {"TERM": "vt100"}
    )
    os.close(keyboard)
    shown = b""
    for typed in (b"roduce A\x01p\n", b"save\n", b"\n", b"quit\n"):  # Ctrl-A goes to the beginning of the line
        while not shown.rstrip().endswith((b">", b":")):
            shown += os.read(terminal, 4096)
        os.write(terminal, typed)
        time.sleep(0.5)
        shown = os.read(terminal, 1 << 16).split(b"\n")[-1]
    running.wait(60)
    os.close(terminal)
    assert schedule_texts(load_case(file).events) == ["produce A"]
