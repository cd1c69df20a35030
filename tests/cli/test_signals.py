"""SIGTERM is taken for a Ctrl-C by what a command does, and told apart by its exit code."""

import signal

import pytest

from epochfuzz.harness.cli.environment.signals import as_ctrl_c


@pytest.fixture(autouse=True)
def ctrl_c_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def work_until(number, seen):
    """Work that is interrupted, and sees it."""
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt:
        seen.append("interrupted")
        raise


@pytest.mark.parametrize(("number", "ends_with"), [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)])
def test_what_runs_is_interrupted(number, ends_with):
    seen: list[object] = []
    with pytest.raises(ends_with) as ended, as_ctrl_c():
        work_until(number, seen)
    assert seen == ["interrupted"]
    assert ended.type is KeyboardInterrupt or ended.value.code == 143


def test_sigterm_counts_in_the_background_too_where_ctrl_c_is_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seen: list[object] = []
    with pytest.raises(SystemExit) as ended, as_ctrl_c():
        work_until(signal.SIGTERM, seen)
    assert (seen, ended.value.code) == (["interrupted"], 143)


def test_whoever_handles_ctrl_c_handles_sigterm():
    noted = []
    signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    with as_ctrl_c():
        signal.raise_signal(signal.SIGTERM)
    assert noted == [signal.SIGINT]


def test_afterwards_sigterm_is_what_it_was():
    before = signal.getsignal(signal.SIGTERM)
    with as_ctrl_c():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
