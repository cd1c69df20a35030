"""Which mistakes lock-step tells within small bounds, and that playing every transition finds those."""

import pytest

from epochfuzz.harness.lab.mutants import DEFECTS
from epochfuzz.harness.lab.mutants import detection as module
from epochfuzz.harness.lab.mutants.detection import BOUNDS, MutantDetection, detect, entries, found, settings_within
from epochfuzz.harness.reference import markdown
from tests.documents.pages import named

BY_NAME = {defect.name: defect for defect in DEFECTS}
WITHIN = {name: said for name, said in entries().items() if said.get("within") == list(BOUNDS[0])}


@pytest.mark.parametrize(
    "name", ["zombie-counts-latest-isr", "conflicting-starts-kept", "elected-outside-isr", "requests-not-fenced"]
)
def test_what_is_told_within_small_bounds_is_found_by_playing_every_transition(name: str) -> None:
    settings = settings_within(BY_NAME[name], BOUNDS[0])
    seen = detect(BY_NAME[name], settings)
    assert seen.schedule is not None
    assert len(seen.schedule) == WITHIN[name]["events"]
    tour = found(BY_NAME[name], settings, WITHIN[name]["refused"])
    assert tour is not None
    assert len(tour) == WITHIN[name]["tour"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["out-of-range-keeps-the-log", "follower-trusts-leader-high-watermark"])
def test_what_is_not_told_no_tour_finds(name: str) -> None:
    settings = settings_within(BY_NAME[name], (2, 1, 1))
    assert detect(BY_NAME[name], settings) == MutantDetection(None, complete=True)
    assert found(BY_NAME[name], settings, refused=True) is None


def test_a_search_that_has_no_room_says_so() -> None:
    settings = settings_within(BY_NAME["asks-once"], BOUNDS[0])
    assert detect(BY_NAME["asks-once"], settings, most=50) == MutantDetection(None, complete=False)


def test_every_defect_has_an_entry_and_every_tour_that_was_played_finds() -> None:
    assert list(entries()) == [defect.name for defect in DEFECTS]
    assert all(said.get("tour", 1) is not None for said in WITHIN.values())


def test_an_entry_is_printed_anew(capsys: pytest.CaptureFixture[str]) -> None:
    module.main(["zombie-counts-latest-isr"])
    assert capsys.readouterr().out == module.text("zombie-counts-latest-isr", WITHIN["zombie-counts-latest-isr"])


def test_the_page_has_the_counts_and_the_table_as_they_are() -> None:
    page = named("how-to/every-transition.md").read_text()
    played = [said for said in WITHIN.values() if "tour" in said]
    refused = sum(said["refused"] for said in played)
    of_judging = sum(defect.in_judging for defect in DEFECTS)
    for sentence in (
        f"Of all {len(DEFECTS)}, {of_judging} are in the checks",
        f"{len(WITHIN)} of the others are detected",
        f"{len(played)} of these were played, and all were found, {refused} of them only by `--refused`",
    ):
        assert sentence in " ".join(page.split())
    assert markdown.table(["mutant", "detected within"], module.rows()) in page
