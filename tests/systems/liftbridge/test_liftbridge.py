"""Liftbridge's own code gives the expected results for its cases, and repairs of the code show their causes."""

import subprocess
import sys
from pathlib import Path

import pytest

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.rerun import Rerun, rerun
from tests.systems import golang
from tests.systems.liftbridge import build
from tests.systems.matrix import PATIENCE, Replays

ROOT = Path(__file__).parents[3]
(SYSTEM,) = build.SYSTEMS
CASES = {case.id.removeprefix("liftbridge-"): case for case in load_corpus([ROOT / "corpus" / "systems"])}


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for lack in golang.missing():
        pytest.skip(lack)


def replayed(case: Case, *words: str) -> Rerun:
    with CommandSubject([*SYSTEM.command, *words], PATIENCE) as subject:
        return rerun(subject, case, SYSTEM.protocol_for(case))


@pytest.mark.slow
@pytest.mark.usefixtures("there")
def test_each_liftbridge_case_loses_an_acknowledged_record_in_both_replays() -> None:
    theirs = [case for case in CASES.values() if SYSTEM.name in case.systems]
    sights = list(Replays(SYSTEM).of(theirs))
    assert len(sights) == 5
    assert not [complaint for sight in sights for complaint in sight.complaints]


@pytest.mark.slow
@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(
    ("repair", "fixed"),
    [
        ("epoch-start", {"leader-with-an-empty-log", "epoch-of-a-former-follower"}),
        ("followers-forgotten", {"offsets-remembered"}),
    ],
)
def test_a_fix_of_liftbridge_affects_only_its_own_cases(repair: str, fixed: set[str]) -> None:
    losing = {
        name
        for name, case in CASES.items()
        if SYSTEM.name in case.systems and "no-acked-loss" in replayed(case, "--repair", repair).subject.broken
    }
    assert losing == {name for name, case in CASES.items() if SYSTEM.name in case.systems} - fixed


@pytest.mark.slow
@pytest.mark.usefixtures("there")
def test_the_liftbridge_adapter_leaves_no_directory() -> None:
    def left() -> set[Path]:
        return {*Path("/dev/shm").glob("conform-liftbridge-*")}

    before = left()
    assert "no-acked-loss" in replayed(CASES["leader-with-an-empty-log"]).subject.broken
    assert left() <= before


def test_the_message_of_a_missing_go_has_the_command_that_installs_go(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.systems", "liftbridge"],
        cwd=ROOT,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout.startswith(f"{SYSTEM.name} is left out: go is missing; wanted is Go 1.25 or later: curl -LO ")
