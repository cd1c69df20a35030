"""docs/reference/: what is written from the code is up to date."""

import pytest

from epochfuzz.harness.reference import markdown, releases
from epochfuzz.harness.reference import pages as reference
from epochfuzz.harness.reference.explain import glossary
from epochfuzz.model.kafka.vocabulary.protocols import RELEASES

PAGES = reference.pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_is_written_from_the_glossary_is_up_to_date(name: str) -> None:
    written = (reference.DIRECTORY / name).read_text(encoding="utf-8")
    assert written == PAGES[name], (
        f"docs/reference/{name} is stale; renew it: python -m epochfuzz.harness.reference.pages"
    )


def test_every_name_of_the_glossary_has_a_section_on_one_page() -> None:
    headings = [line.removeprefix("## ") for text in PAGES.values() for line in text.splitlines() if line[:3] == "## "]
    assert sorted(headings) == sorted(glossary())


def test_the_readme_has_the_table_of_releases_as_it_is_now() -> None:
    head, *rows = releases.short_rows()
    written = reference.README.read_text(encoding="utf-8")
    assert markdown.table(head, rows) in written
    assert written == reference.readme()


def test_the_page_on_subjects_says_what_each_release_stands_for() -> None:
    page = (reference.DIRECTORY.parent / "conformance.md").read_text(encoding="utf-8")
    for name in RELEASES:
        assert f"| `{name}` | {releases.versions_of(name)} |" in page, name
