"""A standard stream that is closed or full changes no exit code by accident, and no command shows a traceback."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_command_line_help import COMMANDS

LEAVES = [path for path, command in COMMANDS.items() if not hasattr(command, "commands")]
UNWRITABLE = {"closed": ">&-", "full": ">/dev/full"}
REPLAY = ("replay", "m1-loss", "--json")
# Runs every command in a child process, which has the streams of this one, and prints the exit codes into a file.
EACH = """
import json, os, sys
from epochfuzz.harness.cli.main import main
codes = []
for words in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        sys.argv = ["epochfuzz", *words]
        main()
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
with open(sys.argv[2], "w") as file:
    json.dump(codes, file)
"""


def run(words, redirection, python=("-m", "epochfuzz"), before="", **more):
    """Run a command with redirected streams. Returns the exit code and the text of both streams."""
    command = ["bash", "-c", f'{before} exec "$@" {redirection}', "bash", sys.executable, *python, *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **more)
    assert "Traceback" not in ended.stdout + ended.stderr
    return ended.returncode, ended.stdout, ended.stderr


def run_each(commands, redirection, file, **more):
    """Run commands one after the other. Returns the exit code of each, and the text of both streams."""
    words = (json.dumps(commands), str(file))
    code, out, err = run(words, redirection, ("-c", EACH), **more)
    assert code == 0, err
    return dict(zip(map(" ".join, commands), json.loads(file.read_text()), strict=True)), out, err


@pytest.mark.thorough
@pytest.mark.parametrize("how", UNWRITABLE)
def test_the_help_of_a_command_exits_with_2_and_a_message_if_stdout_is_unwritable(tmp_path, how):
    commands = [[*path, "--help"] for path in ((), *LEAVES)]
    codes, _, err = run_each(commands, UNWRITABLE[how], tmp_path / "codes")
    assert codes == dict.fromkeys(codes, 2)
    assert err.count("epochfuzz: standard output: cannot be written: ") == err.count("\n") == len(commands)


@pytest.mark.thorough
@pytest.mark.parametrize("how", UNWRITABLE)
def test_a_command_exits_with_2_for_an_unknown_option_even_if_stderr_is_unwritable(tmp_path, how):
    codes, out, _ = run_each([[*path, "--no-such-option"] for path in LEAVES], f"2{UNWRITABLE[how]}", tmp_path / "c")
    assert codes == dict.fromkeys(codes, 2)
    assert out == ""


def test_a_command_in_a_removed_working_directory_stops_with_a_clear_message(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    commands = [["--version"], *([*path, "--help"] for path in LEAVES)]
    codes, out, err = run_each(commands, "", tmp_path / "c", before='rmdir "$PWD";', cwd=gone)
    assert codes == dict.fromkeys(codes, 2)
    message = "epochfuzz: the working directory: No such file or directory; change to another directory\n"
    assert (out, err) == ("", message * len(commands))


@pytest.mark.thorough
@pytest.mark.parametrize("words", [("--version",), REPLAY, ("explain", "ISR"), ("explain", "--json")], ids=" ".join)
@pytest.mark.parametrize("how", UNWRITABLE)
def test_a_command_exits_with_2_if_stdout_is_unwritable_with_and_without_stderr(words, how):
    assert run(words, UNWRITABLE[how])[0] == 2
    assert run(words, f"{UNWRITABLE[how]} 2{UNWRITABLE[how]}")[0] == 2


@pytest.mark.parametrize("how", UNWRITABLE)
def test_an_unwritable_stderr_changes_neither_the_results_nor_the_exit_code(how):
    code, out, _ = run(REPLAY, f"2{UNWRITABLE[how]}")
    assert (code, out) == run(REPLAY, "")[:2]
    assert code == 0
    assert run(("replay", "nope"), f"2{UNWRITABLE[how]}")[0] == 2


def test_replay_exits_with_1_for_an_unexpected_result_even_if_stderr_is_unwritable(tmp_path):
    case = tmp_path / "wrong.yaml"
    case.write_text(
        "schema: 1\nid: wrong\nwhy: Wrong.\nevents: [produce A]\nexpect:\n  hw: {broken: [no-divergence]}\n"
    )
    assert run(("replay", str(case)), "2>/dev/full")[0] == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "redirection", "code", "message"),
    [
        (REPLAY, "<&-", 0, ""),
        (("replay", "-"), "<&-", 2, "-:1: the file is empty"),
        (("replay", "-"), "0>written", 2, "standard input: cannot be read: "),
        (("new-case", "x.yaml", "--protocol", "hw"), "<&-", 0, ""),
        (("new-case", "x.yaml", "--protocol", "hw"), "0>written", 2, "standard input: cannot be read: "),
        (("corpus", "add", "m1-loss"), "<&-", 2, "standard input ended before an answer"),
        (("corpus", "add", "m1-loss"), "0>written", 2, "standard input: cannot be read: "),
    ],
)
def test_a_command_handles_a_closed_or_unreadable_stdin_without_a_traceback(
    tmp_path, words, redirection, code, message
):
    ended, _, err = run(words, redirection, cwd=tmp_path)
    assert ended == code
    assert message in err
    assert not (tmp_path / "x.yaml").exists()


def test_report_writes_an_intact_file_if_all_standard_streams_are_closed(tmp_path):
    assert run(("report", "m1-loss", "--out", "page.html"), ">&- 2>&- <&-", cwd=tmp_path)[0] == 2
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")


def test_fuzz_stops_with_a_clear_message_if_compiled_code_does_not_fit_on_the_disk(tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    limit = (1000, resource.RLIM_INFINITY)  # bytes of a file, far less than compiled code has
    words = ("fuzz", "--protocol", "hw", "--schedules", "1", "--certify", "0")
    code, _, err = run(words, "", env=environment, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert code == 2
    assert "make room, or set XDG_CACHE_HOME (compiled code)" in err


def test_replay_reports_an_unexpected_os_error_as_a_bug_of_epochfuzz(epochfuzz, monkeypatch):
    def fail(path: Path) -> bool:
        raise IsADirectoryError(21, "Is a directory")

    monkeypatch.setattr(Path, "is_dir", fail)
    ended = epochfuzz("replay", "m1-loss")
    assert ended.code == 3
    assert "this is a bug in epochfuzz" in ended.err
