"""A command takes SIGTERM, SIGHUP and SIGQUIT for Ctrl-C, and its exit code tells them apart."""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from epochfuzz.harness.cli.environment.signals import as_ctrl_c
from tests.project.sources import ROOT

OTHERS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").write(str(os.getpid()))
while True:
    time.sleep(1)
"""


@pytest.fixture(autouse=True)
def ctrl_c_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def work_until(number, seen):
    """Send a signal to this process, and note the KeyboardInterrupt in `seen`."""
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt:
        seen.append("interrupted")
        raise


def call_compiled_code_until(number):
    """Send a signal to this process. The interpreter replaces the KeyboardInterrupt of compiled code."""
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt as error:
        raise SystemError("returned a result with an exception set") from error


@pytest.mark.parametrize(
    ("number", "ends_with"), [*((each, SystemExit) for each in OTHERS), (signal.SIGINT, KeyboardInterrupt)]
)
def test_a_signal_interrupts_the_running_work(number, ends_with):
    seen: list[object] = []
    with pytest.raises(ends_with) as ended, as_ctrl_c():
        work_until(number, seen)
    assert seen == ["interrupted"]
    assert ended.type is KeyboardInterrupt or ended.value.code == 128 + number


def test_sigterm_interrupts_a_background_command_that_ignores_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seen: list[object] = []
    with pytest.raises(SystemExit) as ended, as_ctrl_c():
        work_until(signal.SIGTERM, seen)
    assert (seen, ended.value.code) == (["interrupted"], 143)


@pytest.mark.parametrize(("number", "ends_with"), [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)])
def test_a_signal_in_a_call_of_compiled_code_interrupts_the_command(number, ends_with):
    with pytest.raises(ends_with), as_ctrl_c():
        call_compiled_code_until(number)


def test_a_system_error_without_a_signal_stays_an_error():
    with pytest.raises(SystemError), as_ctrl_c():
        raise SystemError("bad internal call")


def test_a_handler_of_ctrl_c_also_handles_sigterm():
    noted = []
    signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    with as_ctrl_c():
        signal.raise_signal(signal.SIGTERM)
    assert noted == [signal.SIGINT]


@pytest.mark.parametrize("number", OTHERS)
def test_a_signal_has_its_previous_handler_after_the_command(number):
    before = signal.getsignal(number)
    with as_ctrl_c():
        assert signal.getsignal(number) is not before
    assert signal.getsignal(number) is before


def test_a_command_started_by_nohup_survives_a_hangup():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with as_ctrl_c():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.thorough
@pytest.mark.parametrize("number", OTHERS)
@pytest.mark.parametrize(
    "words",
    [("conform", "--schedules", "1", "--timeout", "60", "--"), ("replay", "m1-loss", "--subject")],
    ids=["conform", "replay"],
)
def test_an_interrupted_command_kills_a_system_under_test_that_ignores_sigterm(tmp_path, words, number):
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    system = [sys.executable, str(tmp_path / "stubborn.py"), str(tmp_path / "pid")]
    last = [shlex.join(system)] if words[-1] == "--subject" else system
    command = [sys.executable, "-m", "epochfuzz", *words, *last]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path) as running:
        pid = int(soon(lambda: (tmp_path / "pid").read_text()))
        running.send_signal(number)
        assert running.wait(60) == 128 + number
    soon(lambda: not Path(f"/proc/{pid}").exists())


def soon(read):
    """Return the first true value that `read` returns within a minute."""
    for _ in range(600):
        with contextlib.suppress(OSError):
            if found := read():
                return found
        time.sleep(0.1)
    raise AssertionError("a minute is over")


def test_ctrl_c_during_the_imports_prints_no_traceback(tmp_path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    ended = subprocess.run(
        [sys.executable, "-m", "epochfuzz", "--version"],
        env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


INTERRUPTED_IN_EXEC = """
from epochfuzz.harness.cli import main as cli

def ended():
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        return 143

cli._exit_code = ended
cli.main()
"""


def test_an_interruption_within_exec_does_not_replace_the_exit_code(tmp_path):
    (tmp_path / "interrupted.py").write_text(INTERRUPTED_IN_EXEC)
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    ended = subprocess.run([sys.executable, "-m", "interrupted"], env=os.environ | {"PYTHONPATH": path}, check=False)
    assert ended.returncode == 143
