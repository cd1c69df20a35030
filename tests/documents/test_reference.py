"""docs/reference/: the pages and pictures that are generated from the code are up to date."""

import re
from functools import cache

import pytest

import epochfuzz
from epochfuzz.harness.lab import pages as reference
from epochfuzz.harness.lab.pictures import PICTURES, ROOT, Picture, drawn
from epochfuzz.harness.reference import markdown, releases
from epochfuzz.harness.reference.explain import glossary


@cache
def pages() -> dict[str, str]:
    """Return the generated pages. This takes seconds, so the collection of tests does not do it."""
    return reference.pages()


def test_the_generated_reference_pages_are_up_to_date() -> None:
    stale = [name for name, text in pages().items() if (reference.DIRECTORY / name).read_text(encoding="utf-8") != text]
    assert not stale, "renew these pages: python -m epochfuzz.harness.lab.pages"


def test_every_name_of_the_glossary_has_exactly_one_section_or_row() -> None:
    patterns = (r"^##+ (.+)$", r"^\* `(\w+=[\w-]+)` \(", r"^\| `([^`]+)` \|")
    texts = [text for name, text in pages().items() if name != "python-api.md"]
    places = [name for text in texts for each in patterns for name in re.findall(each, text, re.MULTILINE)]
    assert sorted(name for name in places if name in glossary()) == sorted(glossary())


def test_the_python_api_page_has_a_section_for_every_public_name_of_epochfuzz() -> None:
    sections = re.findall(r"^## (\w+)$", pages()["python-api.md"], re.MULTILINE)
    assert sections == [name for name in epochfuzz.__all__ if not name.startswith("__")]


def test_the_readme_has_the_current_table_of_releases() -> None:
    head, *rows = releases.short_rows()
    written = reference.README.read_text(encoding="utf-8")
    assert markdown.table(head, rows) in written
    assert written == reference.readme()


@pytest.mark.parametrize("picture", PICTURES, ids=lambda each: each.file)
def test_every_picture_is_up_to_date_with_its_case(picture: Picture) -> None:
    assert (ROOT / picture.file).read_text(encoding="utf-8") == drawn(picture), (
        f"{picture.file} is stale; renew it: python -m epochfuzz.harness.lab.pictures"
    )
