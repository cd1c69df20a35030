"""`fuzz --out` saves findings as case files, without Spark. With `--new`, it saves only unreported findings."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from epochfuzz.harness.cases import folder
from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.cases.comparison import is_unreported
from epochfuzz.harness.cases.folder import CaseDirectory
from epochfuzz.harness.findings.findings import Finding
from epochfuzz.harness.trace.causes import CauseStatus, causes
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

Command = Callable[..., Any]
WALK = ("fuzz", "--schedules", 3000, "--seed", 7)
ROOT = Path(__file__).parents[2]
M1 = "documents/m1-loss.yaml"
UNFENCED = "kip-320:truncation=high_watermark"


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def names(directory: str) -> set[str]:
    return {path.name for path in Path(directory).iterdir()}


def test_fuzz_saves_every_finding_as_a_case_that_expects_the_violation(epochfuzz: Command) -> None:
    found = epochfuzz(*WALK, "--protocol", "hw", "--out", "found", "--json").json
    saved = {path: load_case(path) for path in found["saved"]}
    schedules = {(each["protocol"], *each["events"]) for each in found["findings"]}
    assert len(saved) == len(schedules)  # properties that one schedule breaks are in one case
    assert {f"{case.id}.yaml" for case in saved.values()} == names("found")
    assert all(case.provenance and case.provenance["seed"] == 7 for case in saved.values())
    assert epochfuzz("replay", "found").code == 0


def test_fuzz_neither_saves_a_finding_twice_nor_overwrites_a_case(epochfuzz: Command) -> None:
    walk = (*WALK, "--protocol", "hw", "--out", "found")
    epochfuzz(*walk)
    first = {name: (Path("found") / name).read_bytes() for name in names("found")}
    again = epochfuzz(*walk)
    assert "nothing new to save in found" in again.out
    epochfuzz(*walk, "--unclean-leader-election")  # the same names, of other cases
    assert names("found") > set(first)
    assert {name: (Path("found") / name).read_bytes() for name in first} == first


def test_fuzz_with_new_saves_unknown_violations_and_no_known_flaws(epochfuzz: Command) -> None:
    ended = epochfuzz(*WALK, "--protocol", "hw", "--protocol", UNFENCED, "--out", "found", "--new")
    assert ended.code == 1
    assert {name.partition("-no")[0] for name in names("found") if "-no-" in name} == {
        "kip-320-truncation-high-watermark"
    }
    assert all(f"saved found/{name}" in ended.out for name in names("found"))


def test_a_suspected_cause_counts_as_unreported_and_a_known_cause_does_not() -> None:
    re_elected, m1 = (load_case(ROOT / "corpus" / name) for name in ("history/re-elected-leader.yaml", M1))
    suspected = causes(re_elected.events, parse_protocol("kafka-2.8.1"), re_elected.settings, "no-acked-loss")
    known = causes(m1.events, parse_protocol("hw"), m1.settings, "no-committed-loss")
    assert (suspected.status, known.status) == (CauseStatus.SUSPECTED, CauseStatus.KNOWN)
    assert is_unreported(cast(Finding, SimpleNamespace(known_flaw=suspected.reason, causes=suspected)))
    assert not is_unreported(cast(Finding, SimpleNamespace(known_flaw=known.reason, causes=known)))


@pytest.mark.thorough
@pytest.mark.parametrize("option", [(), ("--corpus", "corpus")], ids=["./corpus", "--corpus"])
def test_fuzz_with_new_skips_a_schedule_that_is_in_the_corpus(epochfuzz: Command, option: tuple[str, ...]) -> None:
    walk = (*WALK, "--protocol", UNFENCED)
    kept, *_ = epochfuzz(*walk, "--out", "corpus", "--json").json["saved"]
    for other in names("corpus") - {Path(kept).name}:
        (Path("corpus") / other).unlink()
    saved = epochfuzz(*walk, "--out", "found", "--new", *option, "--json").json["saved"]
    assert saved
    assert load_case(kept).events not in [load_case(path).events for path in saved]


@pytest.mark.thorough
def test_ablation_saves_the_violations_of_its_variants(epochfuzz: Command) -> None:
    ended = epochfuzz("fuzz", "--ablate", "kip-320", "--for", "2s", "--seed", 7, "--out", "found", "--json")
    assert {str(Path("found", name)) for name in names("found")} == set(ended.json["saved"]) != set()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--new", "--new needs --out DIR"),
        ("--out found --corpus corpus", "--corpus needs --new"),
        ("--out found --new --corpus nowhere", "--corpus: nowhere"),
        ("--out file", "--out: file: File exists"),
        ("--out wrong", "wrong/none.yaml:1: unknown key 'a'"),
        ("--out found --breaks hw --holds kip-101", "--out can't be combined with --breaks and --holds"),
    ],
)
def test_fuzz_stops_before_the_first_schedule_if_findings_cannot_be_saved(
    epochfuzz: Command, words: str, complaint: str
) -> None:
    Path("file").touch()
    Path("wrong").mkdir()
    Path("wrong/none.yaml").write_text("a: b\n", encoding="utf-8")
    ended = epochfuzz("fuzz", *words.split())
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"epochfuzz: {complaint}")


def test_a_case_directory_does_not_overwrite_a_case_that_another_writer_has_saved(tmp_path: Path) -> None:
    one, other = CaseDirectory(tmp_path), CaseDirectory(tmp_path)
    case = load_case(Path(__file__).parents[2] / "corpus" / "documents" / "m1-loss.yaml")
    assert one.save(case) == tmp_path / "m1-loss.yaml"
    with pytest.raises(FileExistsError):
        other.save(case)


def test_an_interrupted_save_leaves_no_incomplete_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    case = load_case(Path(__file__).parents[2] / "corpus" / "documents" / "m1-loss.yaml")
    for part in ("dump_case", "os.link"):
        with monkeypatch.context() as patched:
            patched.setattr(f"{folder.__name__}.{part}", interrupted)
            with pytest.raises(KeyboardInterrupt):
                CaseDirectory(tmp_path).save(case)
        assert list(tmp_path.iterdir()) == []
    assert CaseDirectory(tmp_path).save(case) == tmp_path / "m1-loss.yaml"


def test_a_case_is_saved_on_a_file_system_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refused)
    case = load_case(Path(__file__).parents[2] / "corpus" / "documents" / "m1-loss.yaml")
    saved = CaseDirectory(tmp_path).save(case)
    assert load_case(saved) == replace(case, path=saved)
    assert names(str(tmp_path)) == {"m1-loss.yaml"}
