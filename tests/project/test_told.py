"""The mutants that lockstep detects within small bounds, and the test sequences that find them."""

import re

import pytest

from epochfuzz.harness.lab.mutants import DEFECTS
from epochfuzz.harness.lab.mutants import detection as module
from epochfuzz.harness.lab.mutants.detection import BOUNDS, MutantDetection, detect, entries, found, settings_within
from tests.documents.pages import named

BY_NAME = {defect.name: defect for defect in DEFECTS}
WITHIN = {name: said for name, said in entries().items() if said.get("within") == list(BOUNDS[0])}


@pytest.mark.parametrize(
    "name", ["zombie-counts-latest-isr", "conflicting-starts-kept", "elected-outside-isr", "requests-not-fenced"]
)
def test_playing_every_transition_finds_the_mutants_that_are_detected_within_small_bounds(name: str) -> None:
    settings = settings_within(BY_NAME[name], BOUNDS[0])
    seen = detect(BY_NAME[name], settings)
    assert seen.schedule is not None
    assert len(seen.schedule) == WITHIN[name]["events"]
    tour = found(BY_NAME[name], settings, WITHIN[name]["refused"])
    assert tour is not None
    assert len(tour) == WITHIN[name]["tour"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["out-of-range-keeps-the-log", "follower-trusts-leader-high-watermark"])
def test_no_test_sequence_finds_an_undetected_mutant(name: str) -> None:
    settings = settings_within(BY_NAME[name], (2, 1, 1))
    assert detect(BY_NAME[name], settings) == MutantDetection(None, complete=True)
    assert found(BY_NAME[name], settings, refused=True) is None


def test_a_detection_search_is_incomplete_if_the_limit_of_state_pairs_is_too_small() -> None:
    settings = settings_within(BY_NAME["asks-once"], BOUNDS[0])
    assert detect(BY_NAME["asks-once"], settings, most=50) == MutantDetection(None, complete=False)


def test_every_mutant_has_an_entry_and_every_played_test_sequence_finds_its_mutant() -> None:
    assert list(entries()) == [defect.name for defect in DEFECTS]
    assert all(said.get("tour", 1) is not None for said in WITHIN.values())


def test_the_detection_module_prints_an_entry_as_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    module.main(["zombie-counts-latest-isr"])
    assert capsys.readouterr().out == module.text("zombie-counts-latest-isr", WITHIN["zombie-counts-latest-isr"])


def test_the_page_on_every_transition_has_the_current_counts_of_mutants() -> None:
    page = named("how-to/every-transition.md").read_text()
    played = [said for said in WITHIN.values() if "tour" in said]
    refused = sum(said["refused"] for said in played)
    of_judging = sum(defect.in_judging for defect in DEFECTS)
    for sentence in (
        f"{of_judging} of all {len(DEFECTS)} are in the checks",
        f"{len(WITHIN)} of the others are detected",
        f"{len(played)} of these were played, and all were found, {refused} of them only by `--refused`",
    ):
        assert sentence in " ".join(page.split())
    others = [entries()[defect.name] for defect in DEFECTS if not defect.in_judging and defect.name not in WITHIN]
    searched = [said["nowhere within"] for said in others if "within" not in said]
    complete = sum(list(BOUNDS[0]) in bounds for bounds in searched)
    counts = (len(others) - len(searched), complete, len(searched) - complete)
    assert tuple(map(int, re.findall(r"^\| .* \| (\d+) \|$", page, re.MULTILINE))) == counts
