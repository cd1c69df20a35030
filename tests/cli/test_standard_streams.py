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
    """How a command ends whose streams a shell redirects; the exit code and the text of both streams."""
    command = ["bash", "-c", f'{before} exec "$@" {redirection}', "bash", sys.executable, *python, *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **more)
    assert "Traceback" not in ended.stdout + ended.stderr
    return ended.returncode, ended.stdout, ended.stderr


def run_each(commands, redirection, file, **more):
    """How commands end, one after the other; the exit code of each, and the text of both streams."""
    words = (json.dumps(commands), str(file))
    code, out, err = run(words, redirection, ("-c", EACH), **more)
    assert code == 0, err
    return dict(zip(map(" ".join, commands), json.loads(file.read_text()), strict=True)), out, err


@pytest.mark.thorough
@pytest.mark.parametrize("how", UNWRITABLE)
def test_a_command_whose_output_is_lost_exits_with_2_and_says_so(tmp_path, how):
    commands = [[*path, "--help"] for path in ((), *LEAVES)]
    codes, _, err = run_each(commands, UNWRITABLE[how], tmp_path / "codes")
    assert codes == dict.fromkeys(codes, 2)
    assert err.count("epochfuzz: standard output: cannot be written: ") == err.count("\n") == len(commands)


@pytest.mark.thorough
@pytest.mark.parametrize("how", UNWRITABLE)
def test_a_wrong_option_is_exit_2_though_nobody_hears_of_it(tmp_path, how):
    codes, out, _ = run_each([[*path, "--no-such-option"] for path in LEAVES], f"2{UNWRITABLE[how]}", tmp_path / "c")
    assert codes == dict.fromkeys(codes, 2)
    assert out == ""


def test_a_working_directory_that_was_removed_is_a_message(tmp_path):
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
def test_results_that_cannot_be_printed_are_exit_2_with_or_without_standard_error(words, how):
    assert run(words, UNWRITABLE[how])[0] == 2
    assert run(words, f"{UNWRITABLE[how]} 2{UNWRITABLE[how]}")[0] == 2


@pytest.mark.parametrize("how", UNWRITABLE)
def test_messages_that_nobody_reads_change_neither_the_results_nor_the_exit_code(how):
    code, out, _ = run(REPLAY, f"2{UNWRITABLE[how]}")
    assert (code, out) == run(REPLAY, "")[:2]
    assert code == 0
    assert run(("replay", "nope"), f"2{UNWRITABLE[how]}")[0] == 2


def test_a_broken_property_is_still_exit_1_though_standard_error_is_full(tmp_path):
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
def test_standard_input_that_cannot_be_read_is_a_message(tmp_path, words, redirection, code, message):
    ended, _, err = run(words, redirection, cwd=tmp_path)
    assert ended == code
    assert message in err
    assert not (tmp_path / "x.yaml").exists()


def test_no_file_takes_the_number_of_a_closed_stream(tmp_path):
    assert run(("report", "m1-loss", "--out", "page.html"), ">&- 2>&- <&-", cwd=tmp_path)[0] == 2
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")


def test_a_disk_that_is_full_while_kernels_are_compiled_is_a_message(tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    limit = (1000, resource.RLIM_INFINITY)  # bytes of a file, far less than compiled code has
    words = ("fuzz", "--protocol", "hw", "--schedules", "1", "--certify", "0")
    code, _, err = run(words, "", env=environment, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert code == 2
    assert "make room, or set XDG_CACHE_HOME (compiled code)" in err


def test_an_error_that_the_machine_is_not_responsible_for_is_still_a_bug(epochfuzz, monkeypatch):
    def fail(path: Path) -> bool:
        raise IsADirectoryError(21, "Is a directory")

    monkeypatch.setattr(Path, "is_dir", fail)
    ended = epochfuzz("replay", "m1-loss")
    assert ended.code == 3
    assert "this is a bug in epochfuzz" in ended.err
