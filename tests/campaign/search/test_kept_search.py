"""A search in memory that ended early resumes from its file, and ends as a search without interruption."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from epochfuzz.harness.campaign.search import kept_search
from epochfuzz.harness.campaign.search.kept_search import KeptSearch
from epochfuzz.harness.campaign.store.location import held
from epochfuzz.harness.engine.explore import explore as engine
from epochfuzz.harness.engine.explore.explore import Exploration, Resumable, SearchProgress, explore
from epochfuzz.harness.findings.search_request import SearchRequest
from epochfuzz.harness.jobs.unfinished import ProgressError
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conftest import Ended

Run = Callable[..., Ended]

MEBIBYTE = 1 << 20
HOLDS = SearchRequest(
    protocol=parse_protocol("kip-320"), settings=Configuration(records=2, epochs=1), sought="no-committed-loss"
)
BREAKS = replace(HOLDS, protocol=parse_protocol("hw"), settings=Configuration(records=1, epochs=2))
SHALLOW = replace(HOLDS, depth=9)


@pytest.fixture(autouse=True)
def in_small_waves_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_WAVE", 64)
    monkeypatch.setattr(kept_search, "_PAUSE", 0.0)
    monkeypatch.setattr(kept_search, "_TIMES", 0)


class Interrupted(KeptSearch):
    """A file whose process is interrupted after some waves. `waves` counts the waves."""

    waves = 0
    most = 0

    def keep(self, search: Resumable, *, now: bool = False) -> None:
        super().keep(search, now=now)
        self.waves += not now
        if self.waves == self.most:
            raise KeyboardInterrupt


def result(asked: SearchRequest, keeper: KeptSearch | None, memory: int = 64 * MEBIBYTE) -> Exploration:
    return explore(asked.protocol, asked.settings, asked.wanted, asked.depth, memory, jobs=1, keeper=keeper)


def interrupted(directory: Path, asked: SearchRequest, waves: int) -> None:
    keeper = Interrupted(directory, asked)
    keeper.most = waves
    with pytest.raises(KeyboardInterrupt):
        result(asked, keeper)


@pytest.mark.parametrize("asked", [HOLDS, BREAKS, SHALLOW], ids=["holds", "breaks", "depth"])
def test_a_search_that_resumes_after_some_waves_has_the_result_of_a_whole_search(
    tmp_path: Path, asked: SearchRequest
) -> None:
    whole = Interrupted(tmp_path / "whole", asked)
    expected = result(asked, whole)
    assert whole.waves > 4
    for waves in range(1, whole.waves + 1, 1 + whole.waves // 25):
        interrupted(tmp_path / str(waves), asked, waves)
        assert result(asked, KeptSearch.load(tmp_path / str(waves))) == expected


def test_a_search_that_ran_out_of_memory_resumes_with_more(tmp_path: Path) -> None:
    assert result(HOLDS, KeptSearch.start(tmp_path, HOLDS), 1 << 17).memory_exhausted
    ended = result(HOLDS, KeptSearch.load(tmp_path))
    assert (ended.complete, ended.states) == (True, result(HOLDS, None).states)


def test_a_search_cannot_resume_with_too_little_memory(
    epochfuzz: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(tmp_path, HOLDS, 9)
    monkeypatch.setattr(engine, "GIBIBYTE", 1 << 14)
    ended = epochfuzz("explore", "--resume", tmp_path, "--memory", 1)
    assert ended.code == 2
    assert ended.err.endswith("epochfuzz: --memory: the states of the search need more memory\n")


def test_an_interruption_keeps_the_waves_that_are_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_search, "_PAUSE", 1e9)  # no write is due
    waves = count()
    expand = engine._Search._expand_wave

    def expand_four(*arguments: Any) -> Any:
        if next(waves) == 4:
            raise KeyboardInterrupt
        return expand(*arguments)

    monkeypatch.setattr(engine._Search, "_expand_wave", expand_four)
    with pytest.raises(KeyboardInterrupt):
        result(HOLDS, KeptSearch.start(tmp_path, HOLDS))
    monkeypatch.undo()
    found: list[SearchProgress] = []
    keeper = KeptSearch.load(tmp_path)
    explore(HOLDS.protocol, HOLDS.settings, HOLDS.wanted, report=found.append, jobs=1, keeper=keeper)
    assert found[0].depth > 0


def test_a_finished_search_shows_its_result_again_without_another_search(tmp_path: Path) -> None:
    whole = result(HOLDS, KeptSearch.start(tmp_path, HOLDS))
    waves: list[SearchProgress] = []
    keeper = KeptSearch.load(tmp_path)
    again = explore(HOLDS.protocol, HOLDS.settings, HOLDS.wanted, report=waves.append, jobs=1, keeper=keeper)
    assert (again, waves) == (whole, [])


def test_a_loaded_search_has_the_request_and_adds_up_the_time(tmp_path: Path) -> None:
    interrupted(tmp_path, SHALLOW, 3)
    kept = KeptSearch.load(tmp_path)
    assert kept.asked.text() == SHALLOW.text()
    assert kept.seconds > 0


def damaged(whole: bytes) -> Iterator[bytes]:
    middle = len(whole) // 2
    yield b""
    yield b"no array"
    yield whole[:middle]
    yield whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    yield whole + b"more"


@pytest.mark.parametrize("number", range(5), ids=["empty", "text", "cut", "changed", "longer"])
def test_a_search_refuses_a_damaged_file_before_it_reads_the_contents(tmp_path: Path, number: int) -> None:
    interrupted(tmp_path, HOLDS, 9)
    path = tmp_path / kept_search.NAME
    path.write_bytes(list(damaged(path.read_bytes()))[number])
    with pytest.raises(ProgressError, match=r"search\.npy is damaged; delete it, and start the search again"):
        KeptSearch.load(tmp_path)


def test_a_search_refuses_a_file_of_another_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(tmp_path, HOLDS, 3)
    monkeypatch.setattr(kept_search, "model_digest", lambda: "other")
    with pytest.raises(ProgressError, match="resume with that version, or start another search"):
        KeptSearch.load(tmp_path)


def test_a_new_search_refuses_a_directory_with_files(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(ProgressError, match="is not empty; name a new or empty directory"):
        KeptSearch.start(tmp_path, HOLDS)
    interrupted(tmp_path / "a", HOLDS, 3)
    with pytest.raises(ProgressError, match="already holds a search; resume with `epochfuzz explore --resume "):
        KeptSearch.start(tmp_path / "a", HOLDS)


def test_a_full_disk_leaves_the_file_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(tmp_path, HOLDS, 3)
    before = (tmp_path / kept_search.NAME).read_bytes()

    def fails(*arguments: Any, **options: Any) -> None:
        raise OSError("5 requested and 3 written")  # the words of NumPy

    monkeypatch.setattr(np, "save", fails)
    with pytest.raises(ProgressError, match=r"search\.npy: 5 requested and 3 written"):
        result(HOLDS, KeptSearch.load(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == [kept_search.NAME]
    assert (tmp_path / kept_search.NAME).read_bytes() == before


SEARCH = ("explore", "--protocol", "kip-320", "--records", 1, "--epochs", 1, "--json")


def printed(ended: Ended) -> dict[str, Any]:
    assert ended.code == 0, ended.err
    return {name: value for name, value in json.loads(ended.out).items() if name != "transitions_per_second"}


def test_explore_with_out_and_jobs_keeps_a_search_that_resume_ends(epochfuzz: Run, tmp_path: Path) -> None:
    directory = tmp_path / "search"
    whole = printed(epochfuzz(*SEARCH, "--jobs", 1))
    assert printed(epochfuzz(*SEARCH, "--jobs", 1, "--out", directory)) == whole
    assert printed(epochfuzz("explore", "--resume", directory, "--json")) == whole
    for words, message in (
        ((*SEARCH, "--jobs", 1, "--out", directory), "already holds a search; resume with `epochfuzz explore --resume"),
        (("explore", "--resume", directory, "--master", "local[1]"), "--master"),
        (("explore", "--resume", tmp_path, "--jobs", 1), "holds no search; `epochfuzz explore --out"),
        ((*SEARCH, "--jobs", 1, "--out", "hdfs://there/s"), "only Spark can write it; leave out --jobs"),
        ((*SEARCH, "--jobs", 1, "--out", directory, "--master", "local[1]"), "--master"),
    ):
        ended = epochfuzz(*words)
        assert (ended.code, ended.out) == (2, "")
        assert message in ended.err


def test_explore_refuses_a_directory_in_which_another_process_searches(epochfuzz: Run, tmp_path: Path) -> None:
    with held(tmp_path):
        ended = epochfuzz(*SEARCH, "--jobs", 1, "--out", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert f"another process works on {tmp_path}" in ended.err


def test_a_new_search_ignores_what_a_killed_process_left(tmp_path: Path) -> None:
    (tmp_path / kept_search.UNFINISHED).write_bytes(b"a part")
    assert result(SHALLOW, KeptSearch.start(tmp_path, SHALLOW)) == result(SHALLOW, None)
    assert [path.name for path in tmp_path.iterdir()] == [kept_search.NAME]


def test_explore_that_runs_out_of_memory_prints_the_command_that_resumes(
    epochfuzz: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "GIBIBYTE", MEBIBYTE)
    words = ("--protocol", "kip-320", "--records", 2, "--epochs", 1, "--memory", 0.1, "--jobs", 1)
    ended = epochfuzz("explore", *words, "--out", tmp_path / "s")
    assert ended.code == 4
    assert f"resume with more memory: epochfuzz explore --resume {tmp_path}/s --memory 0.2" in ended.err
