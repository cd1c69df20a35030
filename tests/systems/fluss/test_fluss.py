"""Fluss: the supported versions, and the results of Fluss's own code for the cases that name it."""

import sys
from pathlib import Path

import pytest

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.oracle.known import load_known
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.rerun import rerun
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from tests.systems.fluss.build import SYSTEMS, VERSIONS, VersionError, build_of
from tests.systems.matrix import PATIENCE, Replays
from tests.systems.system import System

ROOT = Path(__file__).parents[3]
CASES = [case for case in load_corpus([ROOT / "corpus" / "systems"]) if case.id.startswith("fluss-")]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_of_fluss_has_all_its_sources(version: str) -> None:
    names = {source.name for source in build_of(version).sources}
    assert {"Main.java", "Cluster.java", "FlussServer.java", "HeldReplicaManager.java", "HeldLeader.java"} <= names


def test_a_fluss_version_uses_the_newest_file_that_is_not_newer_than_the_version() -> None:
    folders = {source.name: source.parts for source in build_of("0.7.0").sources}
    assert "since-0.7" in folders["HeldReplicaManager.java"]
    assert "since-0.6" in folders["Tables.java"]


@pytest.mark.parametrize("version", ["0.5.0", "0.9", "latest"])
def test_a_fluss_version_without_an_adapter_is_an_error(version: str) -> None:
    with pytest.raises(VersionError, match=r"there are 0\.9\.1-incubating, 0\.7\.0, 0\.6\.0"):
        build_of(version)


@pytest.fixture(params=SYSTEMS, ids=lambda system: system.name)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> System:
    monkeypatch.chdir(ROOT)
    built: System = request.param
    for lack in built.missing():
        pytest.skip(lack)
    built.build()
    return built


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_code_of_fluss_breaks_the_properties_that_its_cases_expect(system: System) -> None:
    sights = list(Replays(system).of(CASES))
    assert len(sights) == len(CASES)
    assert [complaint for sight in sights for complaint in sight.complaints] == []
    assert [sight.rerun.differs for sight in sights] == [None] * len(CASES)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_idempotent_writers_of_fluss_break_the_properties_of_writers_without_an_id(system: System) -> None:
    broken = {}
    for options in ((), ("--writers",)):
        with CommandSubject([*system.command, *options], PATIENCE) as subject:
            broken[options] = [rerun(subject, case, system.protocol_for(case)).first_broken for case in CASES]
    assert any("no-acked-loss" in first for first in broken["--writers",])
    assert broken["--writers",] == broken[()]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_fluss_reports_its_own_acknowledgements(system: System) -> None:
    case = next(case for case in CASES if case.id == "fluss-follower-of-a-past-epoch")
    with CommandSubject(system.command, PATIENCE) as subject:
        made = rerun(subject, case, system.protocol_for(case))
        assert "no-acked-loss" in made.first_broken
        assert subject.observe()["producers"] == {"acked": ["m1"]}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_resets_of_fluss_leak_no_thread_and_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for lack in SYSTEMS[0].missing():
        pytest.skip(lack)
    from epochfuzz.harness.conform.protocol import wire
    from epochfuzz.harness.conform.protocol.process import LineProcess

    process = LineProcess([sys.executable, "-m", "tests.systems.fluss"])
    try:
        lines = [wire.reset_request(wire.config_of(CASES[0].settings), "fluss-0.9.1")]
        lines += [wire.event_request(event) for event in schedule_texts(CASES[0].events)]
        left = []
        for _ in range(2):
            for line in lines * 40:
                process.ask(line, 120.0)
            threads = len(list(Path(f"/proc/{process.pid}/task").iterdir()))
            files = len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
            left.append((threads, files))
        assert left[1][0] <= left[0][0] + 2
        assert left[1][1] <= left[0][1] + 5
    finally:
        process.kill()


def test_the_known_differences_of_fluss_can_be_read() -> None:
    assert {each.field for each in load_known(Path(__file__).with_name("differences.yaml"))} == {"acked", "any"}
