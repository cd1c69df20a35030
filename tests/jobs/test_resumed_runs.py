"""A local run that was interrupted and resumed has the results of a run without interruption."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.conform.run import block_rows
from epochfuzz.harness.conform.run.block import FailedTrial
from epochfuzz.harness.conform.run.kept_runner import KeptRunner
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance, run
from epochfuzz.harness.conform.run.workers import Processes
from epochfuzz.harness.engine.walk import walking
from epochfuzz.harness.engine.walk.walk import Tally, Walker
from epochfuzz.harness.jobs import unfinished
from epochfuzz.harness.jobs.random_runs import KeptWalk, request
from epochfuzz.harness.jobs.unfinished import ProgressError, Request, UnfinishedRun
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.running import ROOT, SUBJECT
from tests.engine.test_walk import same

PROTOCOLS = [parse_protocol("hw"), parse_protocol("kip-320")]
SETTINGS = Configuration()
ASKED = Request("fuzz", {"schedules": 5})


@pytest.fixture(autouse=True)
def without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished, "_PAUSE", 0.0)


def test_an_unfinished_run_loads_only_with_equal_rules_and_seed(tmp_path: Path) -> None:
    UnfinishedRun(tmp_path, ASKED, 7, rules="old").save({"done": 3})
    assert UnfinishedRun(tmp_path, ASKED, 7, rules="old").load(lambda kept: kept["done"]) == 3
    assert UnfinishedRun(tmp_path, ASKED, 7, rules="new").load(lambda kept: kept["done"]) is None
    assert UnfinishedRun(tmp_path, ASKED, 8, rules="old").load(lambda kept: kept["done"]) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"rules": "old"}', '{"rules": "old", "done": "x"}', "\udcff"])
def test_a_run_with_a_damaged_progress_file_starts_again(tmp_path: Path, text: str) -> None:
    run_ = UnfinishedRun(tmp_path, ASKED, 7, rules="old")
    run_.path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert run_.load(lambda kept: int(kept["done"])) is None


def test_a_request_has_the_seed_of_its_latest_unfinished_run(tmp_path: Path) -> None:
    assert ASKED.seed_in(tmp_path) is None
    for age, (asked, seed) in enumerate([(ASKED, 4), (ASKED, 5), (Request("fuzz", {"schedules": 6}), 6)]):
        kept = UnfinishedRun(tmp_path, asked, seed, rules="r")
        kept.save({})
        os.utime(kept.path, (age, age))
    assert ASKED.seed_in(tmp_path) == ASKED.seed_for(None, tmp_path) == 5
    assert ASKED.seed_for(7, tmp_path) == 7


def test_the_error_about_unwritable_progress_names_the_file_and_the_reason(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(ProgressError, match=r"taken.*(Not a directory|File exists)"):
        UnfinishedRun(tmp_path / "taken" / "below", ASKED, 7, rules="r").save({})


class _Killed(Exception):
    pass


def killed_after(reports: int) -> Callable[[Tally, float], None]:
    """Return a report function that raises _Killed after this number of reports."""
    left = reports

    def report(tally: Tally, elapsed: float) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Killed

    return report


def test_a_resumed_random_run_has_the_tally_of_an_uninterrupted_run(tmp_path: Path) -> None:
    walker = Walker(PROTOCOLS, SETTINGS, 7)
    schedules = 4 * walking.BLOCK + 1
    asked = request("fuzz", PROTOCOLS, SETTINGS, schedules, None)
    done = []
    for reports in (1, 2):
        kept = KeptWalk(tmp_path, asked, 7)
        done.append(0 if kept.before is None else kept.before.tally.schedules)
        with pytest.raises(_Killed):
            kept.walk(walker, schedules, None, 2, killed_after(reports))
    kept = KeptWalk(tmp_path, asked, 7)
    assert kept.before is not None
    assert [*done, kept.before.tally.schedules] == [0, walking.BLOCK, 3 * walking.BLOCK]
    walked = kept.walk(walker, schedules, None, 2, lambda tally, elapsed: None)
    assert same(walked.tally, walker.walk(0, schedules))
    assert walked.tally.schedules == schedules


def conformed(plan: Plan, runner: Any) -> dict[str, Any]:
    return _plain(run(plan, runner), plan)


def _plain(conformance: Conformance, plan: Plan) -> dict[str, Any]:
    found = [
        (each.protocol.name, block_rows.failed_row(_failed(each)), each.seen) for each in conformance.nonconformities
    ]
    counts = {name: getattr(conformance, name) for name in ("schedules", "cases", "unable", "given_up")}
    return {"found": found, "shown": asdict(conformance.shown), **counts}


def _failed(finding: Any) -> Any:
    return FailedTrial(finding.trial, finding.sighting)


class _KilledProcesses(Processes):
    """Processes that are killed after some blocks."""

    left = 2

    def run(self, blocks: Any) -> Any:
        for result in super().run(blocks):
            if not self.left:
                raise _Killed
            self.left -= 1
            yield result


@pytest.mark.thorough
def test_a_resumed_conformance_run_has_the_findings_of_an_uninterrupted_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))
    defective = (*SUBJECT, "--defect", "everyone-is-waited-for")
    plan = Plan(
        command=defective, protocols=PROTOCOLS, settings=SETTINGS, schedules=25, seed=3, processes_for=5, patience=30
    )
    whole = conformed(plan, Processes())
    assert whole["found"]
    resumed = 0
    while True:
        processes = _KilledProcesses()
        kept = KeptRunner(tmp_path, plan, processes)
        assert kept.done == processes.schedules == min(10 * resumed, 50)
        try:
            assert conformed(plan, kept) == whole
            break
        except _Killed:
            resumed += 1
    assert resumed >= 4


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_fuzz_prints_the_document_of_an_uninterrupted_run_after_two_kills(tmp_path: Path) -> None:
    words = ["fuzz", "--protocol", "hw", "--replicas", "3", "--schedules", "4000000", "--certify", "5s", "--json"]
    command = [sys.executable, "-m", "epochfuzz", *words]
    whole = _document([*command, "--seed", "7", "--out", str(tmp_path / "whole")])
    kept = tmp_path / "killed"
    for seed in (["--seed", "7"], []):  # the second command finds the seed of the first
        before = _text_of(kept)
        process = subprocess.Popen([*command, *seed, "--out", str(kept)], stdout=subprocess.DEVNULL)
        while _text_of(kept) == before and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "the run ended before it was killed"
    assert _document([*command, "--out", str(kept)]) == whole
    assert not list(kept.glob("fuzz-*"))


def _text_of(directory: Path) -> str:
    return "".join(file.read_text() for file in directory.glob("fuzz-*.json"))


def _document(command: list[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
    for measured in ("seconds", "events_per_second"):
        del document[measured]
    return document | {"saved": [Path(file).name for file in document["saved"]]}
