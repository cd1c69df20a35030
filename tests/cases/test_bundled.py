"""Bundled cases: commands load them by id in any directory."""

from pathlib import Path

import pytest

from epochfuzz.harness.cases.bundled import FOR_CLIENTS, files
from epochfuzz.harness.cases.case import CaseError, load_case
from epochfuzz.harness.cases.corpus import load_corpus


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_bundled_case_loads_by_its_id_in_any_directory() -> None:
    case = load_case("m1-loss")
    assert (case.id, case.path) == ("m1-loss", Path("m1-loss"))
    assert [each.id for each in load_corpus(["m1-loss", "kafka-7415-undefined-epoch"])] == [
        "m1-loss",
        "kafka-7415-undefined-epoch",
    ]


def test_an_installed_case_for_clients_loads_by_its_id_in_any_directory() -> None:
    assert load_case("retry-of-two-in-order").id == "retry-of-two-in-order"


def test_no_case_for_clients_has_the_id_of_another_installed_case() -> None:
    assert files().keys().isdisjoint(file.stem for file in FOR_CLIENTS.glob("*.yaml"))


def test_a_file_takes_precedence_over_a_bundled_case_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "m1-loss").write_text("schema: 1\nid: mine\nwhy: It is mine.\nevents: [produce A]\n", encoding="utf-8")
    assert load_case("m1-loss").id == "mine"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "m1-lost",
            "m1-lost: the file does not exist, and epochfuzz has no case with that id; did you mean 'm1-loss'?",
        ),
        ("xyzzy", "xyzzy: the file does not exist, and epochfuzz has no case with that id; check the path"),
        ("corpus/m1-loss", "corpus/m1-loss: the file does not exist; check the path"),
        ("m1-loss.yaml", "m1-loss.yaml: the file does not exist; check the path"),
    ],
)
def test_loading_an_unknown_file_or_case_id_is_an_error(path: str, said: str) -> None:
    with pytest.raises(CaseError) as caught:
        load_case(path)
    assert str(caught.value) == said


def test_replay_runs_a_bundled_case_but_does_not_rewrite_it(epochfuzz, tmp_path: Path) -> None:
    assert epochfuzz("replay", "m1-loss", "--protocol", "kip-101").code == 0
    refused = epochfuzz("replay", "m1-loss", "--rewrite")
    assert refused.code == 2
    assert "a bundled case cannot be rewritten" in " ".join(refused.err.split())
    assert list(tmp_path.iterdir()) == []
