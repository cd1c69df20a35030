"""Numbers that are on several pages: each page has the declared or the measured number."""

import re

import pytest

from epochfuzz.harness.lab.mutants.proofs import proofs
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS
from tests.conform.kafka.rungs import RUNGS
from tests.documents.pages import PAGES, ROOT

WORDS = ("nine", "ten", "eleven", "twelve")
COUNTS = {
    r"(\d+) \[?(?:detectable )?\[?mutants\b": str(len(proofs())),
    r"own code of (\w+) releases was compared with the model": str(len({rung.release for rung in RUNGS})),
    rf"({'|'.join(WORDS)}|all \d+) (?:generations|reference designs)\b": WORDS[len(GENERATIONS) - 9],
}


@pytest.mark.parametrize("pattern", COUNTS)
def test_the_numbers_on_pages_are_up_to_date(pattern: str) -> None:
    texts = [re.sub(r"\s+", " ", page.read_text(encoding="utf-8")) for page in [*PAGES, ROOT / "ARCHITECTURE.md"]]
    written = [found for text in texts for found in re.findall(pattern, text)]
    assert written
    assert set(written) == {COUNTS[pattern]}
