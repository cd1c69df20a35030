"""docs/reference/case-format.md documents every key, and the message for each kind of invalid case."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from epochfuzz.harness.cases.case import CaseError, load_case
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from tests.documents.pages import blocks, named

PAGE = named("reference/case-format.md")
EXAMPLE = blocks(PAGE, "yaml")[0].text
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))

# Where a test inserts an unknown key into the example. The error message then lists the known keys.
PLACES = {
    "The case": ("schema: 1", "{}: 1\nschema: 1"),
    "config": ("config: {", "config: {{{}: 1, "),
    "expect": ("hw: {", "hw: {{{}: 1, "),
    "states": ("- {after: 4", "- {{{}: 1, after: 4"),
    "A replica": ("A: {", "A: {{{}: 1, "),
    "controller": ("controller: {", "controller: {{{}: 1, "),
    "systems": ("fluss-0.9.1: {", "fluss-0.9.1: {{{}: 1, "),
    "provenance": ("provenance: {", "provenance: {{{}: 1, "),
}


def rows(text: str) -> Iterator[list[str]]:
    """Return the cells of a section's table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    for line in lines[1:]:
        yield [cell.strip() for cell in line.strip("|").split(" | ")]


def refusal(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CaseError) as caught:
        load_case(path)
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize("section", PLACES)
def test_a_section_documents_exactly_the_keys_that_epochfuzz_reads(section: str, tmp_path: Path) -> None:
    place, edited = PLACES[section]
    assert EXAMPLE.count(place) == 1
    message = refusal(tmp_path / "case.yaml", EXAMPLE.replace(place, edited.format("qqqq")))
    keys = message.rpartition("there is ")[2].split(", ")
    documented = [key for row in rows(SECTIONS[section]) for key in re.findall(r"`(\w+)`", row[0])]
    assert sorted(documented) == sorted(keys)


def test_the_page_documents_the_defaults_of_the_configuration() -> None:
    documented = {row[0].strip("`"): row[1].strip("`") for row in rows(SECTIONS["config"])}
    assert list(Configuration().words().items()) == list(documented.items())


def test_the_example_case_is_as_expected(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(EXAMPLE, encoding="utf-8")
    assert judge(load_case(path)).as_expected


MISTAKES = [[cell.strip("`") for cell in row] for row in rows(SECTIONS["Rejected files"])]


@pytest.mark.parametrize(("right", "wrong", "answer"), MISTAKES, ids=[wrong for _, wrong, _ in MISTAKES])
def test_an_invalid_case_gets_the_documented_message(right: str, wrong: str, answer: str, tmp_path: Path) -> None:
    assert EXAMPLE.count(right) == 1
    assert refusal(tmp_path / "case.yaml", EXAMPLE.replace(right, wrong)) == answer
