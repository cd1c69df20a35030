"""The documentation stays short: the README fits on three screens, and all pages together in 400 KB."""

from tests.documents.pages import DOCS
from tests.project.sources import ROOT

README = ROOT / "README.md"
MOST_LINES = 130
MOST_BYTES = 400_000


def test_the_readme_has_at_most_130_lines() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_the_readme_and_all_pages_have_at_most_400_kb() -> None:
    assert sum(page.stat().st_size for page in {README, *DOCS}) <= MOST_BYTES
