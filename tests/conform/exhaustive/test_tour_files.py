"""`epochfuzz explore --tests` writes test sequences to files, for test harnesses that don't use epochfuzz."""

import errno
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.conform.exhaustive import tour_files
from epochfuzz.harness.conform.exhaustive.graph import graph
from epochfuzz.harness.conform.exhaustive.tour_files import Size, TourFiles
from epochfuzz.harness.conform.protocol.process import LineProcess
from epochfuzz.harness.views.transitions import to_be_written
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.running import REFERENCE, ROOT, SUBJECT
from tests.documents.pages import blocks, named

SMALL = ("--protocol", "kip-320", "--records", "1", "--epochs", "1")
N = 2_700  # transitions, as `conform --exhaustive` counts them
GO = shutil.which("go", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/go/bin"]))


@pytest.fixture(scope="module")
def tours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of all test sequences within small bounds."""
    directory = tmp_path_factory.mktemp("tours")
    return write(small(), directory)


def write(files: TourFiles, directory: Path) -> Path:
    files.write(directory, files.size(ignore), ignore)
    return directory


def small(epochs: int = 1) -> TourFiles:
    protocol, settings = parse_protocol("kip-320"), Configuration(records=1, epochs=epochs)
    return TourFiles(graph(protocol, settings, VERBS, False), protocol, settings)


def ignore(doing: str) -> None:
    pass


def steps(directory: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(directory.glob("*.jsonl")):
        yield from map(json.loads, file.read_text().splitlines())


def differing(directory: Path, command: tuple[str, ...]) -> tuple[int, list[str]]:
    """Return how many steps of the files an adapter follows, and the first differing event of each test sequence."""
    agree, differ, lost = 0, [], False
    with closing(LineProcess(command)) as subject:
        for step in steps(directory):
            is_reset = step["request"]["op"] == "reset"
            if lost and not is_reset:
                continue
            reply = json.loads(subject.ask(json.dumps(step["request"]).encode() + b"\n", 30))
            lost = not (reply["ok"] if is_reset else agrees(reply, step["reply"]))
            agree += not lost
            differ += [step["request"]["event"]] if lost else []
    return agree, differ


def agrees(shown: Any, expected: Any) -> bool:
    """Return whether the adapter shows everything that is expected. The order of an ISR does not matter."""
    if isinstance(expected, dict):
        return all(name in shown and agrees(in_order(name, shown[name]), value) for name, value in expected.items())
    return bool(shown == expected)


def in_order(name: str, value: Any) -> Any:
    return sorted(value) if name == "isr" else value


def test_a_conforming_adapter_agrees_with_every_step_of_the_test_sequences(
    tours: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert differing(tours, REFERENCE) == (sum(1 for _ in steps(tours)), [])


def test_a_cluster_of_processes_agrees_with_every_step_of_the_test_sequences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    few = write(small(epochs=0), tmp_path)
    assert differing(few, SUBJECT) == (sum(1 for _ in steps(few)), [])


def test_the_test_sequences_detect_a_mutant_of_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, differ = differing(write(small(epochs=0), tmp_path), (*SUBJECT, "--defect", "shrinking-does-not-advance"))
    assert set(differ) == {"shrink B"}


def test_the_test_sequences_cover_every_transition_and_the_manifest_counts_them(epochfuzz: Any) -> None:
    ended = epochfuzz("explore", *SMALL, "--tests", "tours", "--json")
    assert ended.code == 0
    of_events = [step for step in steps(Path("tours")) if step["request"]["op"] == "event"]
    assert {step["transition"] for step in of_events} == set(range(N))
    manifest = ended.json
    assert json.loads(Path("tours/manifest.json").read_text()) == manifest
    assert (manifest["transitions"], manifest["steps"], manifest["complete"]) == (N, len(of_events), True)
    assert manifest["tours"] == sum(1 for _ in steps(Path("tours"))) - len(of_events)
    sizes = {file.name: file.stat().st_size for file in Path("tours").glob("*.jsonl")}
    assert {file["name"]: file["bytes"] for file in manifest["files"]} == sizes
    for name, total in (("steps", "steps"), ("tours", "tours"), ("bytes", "bytes"), ("new_transitions", "transitions")):
        assert sum(file[name] for file in manifest["files"]) == manifest[total]
    assert f"{N:,} transitions, {manifest['tours']:,} tours, {len(of_events):,} steps" in ended.err
    assert f"{len(sizes)} files, {sum(sizes.values()):,} bytes in tours" in ended.err


def test_each_test_sequence_is_an_itf_trace_whose_states_name_their_transitions(epochfuzz: Any) -> None:
    words = ("--protocol", "kip-320", "--records", "1", "--epochs", "0", "--tests", "tours", "--format", "itf")
    manifest = epochfuzz("explore", *words, "--json").json
    names = [file["name"] for file in manifest["files"]]
    assert names == [f"tour-{number:04}.itf.json" for number in range(1, manifest["tours"] + 1)]
    assert sum((Path("tours") / name).stat().st_size for name in names) == manifest["bytes"]
    met = set()
    for name in names:
        first, *states = json.loads((Path("tours") / name).read_text())["states"]
        assert (first["event"], first["#meta"]) == ("start", {"index": 0})
        assert all(state["enabled"] for state in states)
        met |= {state["#meta"]["transition"] for state in states}
    assert met == set(range(manifest["transitions"]))
    assert epochfuzz("explore", "--protocol", "hw", "--format", "itf").code == 2


def test_a_restarted_replica_has_no_expected_leader_epoch_until_a_metadata_update(tours: Path) -> None:
    restarted = [step for step in steps(tours) if step["request"].get("event") == "restart B"]
    assert restarted
    for step in restarted:
        replicas = step["reply"]["observation"]["replicas"]
        assert "leader_epoch" not in replicas["B"]
        assert {"leo", "hw", "log", "epochs", "up", "leader"} == set(replicas["B"])
    for step in steps(tours):
        if step["request"].get("event") == "notify B":
            assert "leader_epoch" in step["reply"]["observation"]["replicas"]["B"]


def test_explore_estimates_the_size_of_the_files_within_5_percent(tours: Path) -> None:
    size, written = small().size(ignore), json.loads((tours / "manifest.json").read_text())
    assert (size.transitions, size.tours, size.steps) == (N, written["tours"], written["steps"])
    assert size.files == len(written["files"])
    assert 0.95 < size.bytes / written["bytes"] < 1.05


def test_explore_advises_smaller_bounds_only_for_files_of_gigabytes() -> None:
    (_,) = to_be_written(Size(2_700, 964, 10_326, 4_000_000, 4))
    size, advice = to_be_written(Size(2_287_350, 600_000, 11_000_000, 5_200_000_000, 2_400))
    assert "2,287,350 transitions" in size
    assert "about 5.2 GB in 2,400 files" in size
    assert "--records or --epochs" in advice


def test_an_interrupted_explore_leaves_complete_files_and_a_manifest_of_them(
    tmp_path: Path, tours: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(doing: str) -> None:
        if len(files.written.files) == 2 and doing.startswith("writing"):
            raise KeyboardInterrupt

    files = small()
    with pytest.raises(KeyboardInterrupt):
        files.write(tmp_path, Size(N, 964, 10_326, 1, 4), interrupt)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert not manifest["complete"]
    names = [file["name"] for file in manifest["files"]]
    assert names == ["tours-0001.jsonl", "tours-0002.jsonl"]
    assert {file.name for file in tmp_path.iterdir()} == {*names, "manifest.json"}
    for name in names:
        assert (tmp_path / name).read_bytes() == (tours / name).read_bytes()
    assert {step["transition"] for step in steps(tmp_path) if "transition" in step} < set(range(N))


def test_explore_leaves_no_unfinished_file_after_a_write_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(source: Path, target: Path) -> None:
        if target.name == "tours-0002.jsonl":
            raise OSError(errno.ENOSPC, "No space left on device")
        source.rename(target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(OSError, match="No space left"):
        write(small(), tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"tours-0001.jsonl", "manifest.json"}


def test_explore_reports_the_complete_files_after_ctrl_c(epochfuzz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(files: TourFiles, directory: Path, size: Size, report: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tour_files.TourFiles, "write", interrupt)
    ended = epochfuzz("explore", *SMALL, "--tests", "tours")
    assert ended.code == 130
    assert "interrupted; complete in tours: 0 transitions, 0 tours, 0 steps, 0 files, 0 bytes" in ended.err


def test_explore_rejects_a_directory_that_is_not_empty_and_leaves_its_files(epochfuzz: Any) -> None:
    Path("tours").mkdir()
    Path("tours/mine").write_text("mine")
    ended = epochfuzz("explore", *SMALL, "--tests", "tours")
    assert ended.code == 2
    assert "tours is not empty; name a new or empty directory" in ended.err
    assert [file.name for file in Path("tours").iterdir()] == ["mine"]


@pytest.mark.parametrize("where", ["file", "file/tours"])
def test_explore_rejects_a_tests_path_that_is_not_a_directory(epochfuzz: Any, where: str) -> None:
    Path("file").write_text("")
    ended = epochfuzz("explore", *SMALL, "--tests", where)
    assert ended.code == 2
    assert "--tests: " in ended.err
    assert "Traceback" not in ended.err


def test_explore_rejects_search_options_together_with_tests(epochfuzz: Any) -> None:
    ended = epochfuzz("explore", *SMALL, "--tests", "tours", "--depth", "3", "--no-symmetry")
    assert ended.code == 2
    assert "--depth and --symmetry can't be combined with --tests" in ended.err


@pytest.mark.skipif(GO is None, reason="go is not installed")
def test_the_go_example_of_the_page_prints_the_documented_output_and_detects_an_error(
    tours: Path, tmp_path: Path
) -> None:
    page = named("how-to/every-transition.md")
    (example,) = blocks(page, "go")
    (documented,) = (block.text for block in blocks(page, "console") if "go run tours.go" in block.text)
    for text in (example.text, example.text.replace("+= answer", "+= 0 * answer")):
        (tmp_path / "tours.go").write_text(text)
        ended = subprocess.run(
            f"cat {tours}/tours-*.jsonl | {GO} run tours.go",
            shell=True,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if text == example.text:
            assert ended.stdout == documented.partition("\n")[2]
        else:
            assert "line 4: after receive B the LEO of B is 0, and should be 1" in ended.stderr
