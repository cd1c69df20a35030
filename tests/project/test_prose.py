"""The sentences of docstrings, messages, help texts, pages and cases are in the form that CONTRIBUTING.md asks for."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from epochfuzz.harness.cases.corpus import load_corpus
from tests.project.sources import ROOT, python_files

CHECKED = ("model", "harness", "strategies")
MOST = 40  # matches in 1,000 sentences of a package: some sentences that match read well
FEW = 2  # matches that a small package may have

VERBS = """
    is was are were has had have it they comes came goes went loses leads led breaks broke differs remains remain
    becomes became holds happens happened can could may must follows stands does did would will knows keeps
"""
IDIOMS = (
    "comes? of|came of|comes? to|came to|goes? on|went on|going on|gone on|the like|for want of|but for",
    "all the same|beside|otherwise than|at the most|over night|for ever|anew|hears? of|heard of",
    "in good order|pass(es|ed) over",
)
VAGUE = r"\bthe same (of|as for|for|with)\b|\bone of them\b|\bno such\b|\bas one\b|\bsuch a one\b"
CHANGES = "leaves|joins|handles|reaches|brings|changes|sees"
PATTERNS = {
    "a sentence that starts with a clause without a noun": r"^(What|Who|Whoever|Whatever|Which|Whose)\b(?!.*\?$)",
    "a clause without a noun as an object": rf"(?<!^)\b(what|who|whoever|whatever) ({'|'.join(VERBS.split())})\b",
    "a condition or an object in front": r"^(Where|Of|By|Besides?|Whether)\b(?!.*\?$)",
    "a preposition with a relative pronoun": r"\b(of|by|in|to|with|from|on|at|for|after|before) (which|whom|whose)\b",
    "a pronoun for a noun": r"\b(is|are|be|with|as|than|of|to) (that|those|the ones?|ones) (of|that|which|who|in)\b",
    "an idiom that no manual uses": rf"\b({'|'.join(IDIOMS)})\b(?! Spin\b)",
    "a word of old pages": r"\b(mends?|mended|mending|(is|are|was|were) told|tells of|told (of|apart)|judged by)\b",
    "a reference without a noun": rf"(^The same\b|{VAGUE})",
    "Return in front of a clause": rf"^Return (the \w+('s \w+)? ({CHANGES})|what|who|where)\b",
}
BAD = {name: re.compile(pattern) for name, pattern in PATTERNS.items()}
END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[])")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of at least four words. Code counts as one word."""
    for part in END.split(" ".join(re.sub(r"`[^`]*`", "X", text).split())):
        sentence = part.strip(" -•:")
        if len(re.findall(r"[A-Za-z']+", sentence)) >= 4:
            yield sentence


def docstrings(tree: ast.Module) -> Iterator[str]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return (ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented))


def messages(tree: ast.Module) -> Iterator[str]:
    """Yield help texts, and the texts of exceptions; a value in a text counts as one word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "help":
            yield text_of(node.value)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from map(text_of, node.exc.args)


def text_of(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def package_of(path: Path) -> str:
    folders = path.relative_to(ROOT).parts[:-1]
    return "/".join(folders[:2] if folders[0] == "harness" else folders[:1])


def written(page: str) -> Iterator[str]:
    """Yield the paragraphs, the items of lists and the table cells of a page, without code and the targets of links."""
    prose = re.sub(r"^```.*?^```$|<!--.*?-->", "", page, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[*|#-]|\d+\.) ?)", prose):
        yield from paragraph.split("|")


def pages() -> Iterator[tuple[str, Path]]:
    """Yield each page with its area: the folder below docs/, or `top level`."""
    yield from (("top level", path) for path in ROOT.glob("*.md"))
    yield from (("/".join(path.relative_to(ROOT).parts[:2]), path) for path in (ROOT / "docs").rglob("*/*.md"))


def matches(sentence: str) -> list[str]:
    return [name for name, pattern in BAD.items() if pattern.search(sentence)]


@cache
def areas() -> dict[str, list[str]]:
    """Return the sentences of each package, of all messages, of the pages of each folder and of the cases.

    This takes seconds, so collection does not do it.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for path in python_files(*CHECKED):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found[package_of(path)] += [each for text in docstrings(tree) for each in sentences(text)]
        found["messages"] += [each for text in messages(tree) for each in sentences(text)]
    for area, path in pages():
        found[area] += [each for text in written(path.read_text(encoding="utf-8")) for each in sentences(text)]
    found["cases"] = [each for case in load_corpus([ROOT / "corpus"]) for each in sentences(case.why)]
    return found


AREAS = {"messages", "cases", *map(package_of, python_files(*CHECKED)), *(area for area, _ in pages())}


@pytest.mark.parametrize("area", sorted(AREAS))
def test_few_sentences_of_an_area_match_a_pattern_of_unclear_prose(area: str) -> None:
    found = areas()[area]
    bad = {sentence: matches(sentence) for sentence in found if matches(sentence)}
    assert len(bad) <= max(FEW, MOST * len(found) / 1000), "\n".join(f"{why}: {each}" for each, why in bad.items())


@pytest.mark.parametrize(
    "sentence",
    [
        "What differs is shrunk afterwards.",
        "It says what was not met.",
        "Of each finding there is a date.",
        "The broker to which it fetches is down.",
        "A run that did not come to it goes on.",
        "The defect is told by a test.",
    ],
)
def test_an_unclear_sentence_matches_a_pattern(sentence: str) -> None:
    assert matches(sentence)


def test_the_prose_of_a_page_has_no_code_and_no_targets_of_links() -> None:
    page = "# Title\n\nSee [the page](what-is-told.md) of events.\n\n```sh\nrun\n```\n* one\n* two\n\n| a | b |\n"
    assert [text.strip() for text in written(page) if text.strip()] == [
        *("# Title", "See the page of events.", "* one", "* two", "a", "b"),
    ]


def test_a_plain_sentence_matches_no_pattern() -> None:
    assert not matches("The leader removes the follower from the ISR, because its log lags.")
