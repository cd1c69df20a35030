"""What `make site` does beside MkDocs: a page for each case, and what only a checkout has is named and not linked."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cases.verdict import JudgedCase, judge
from epochfuzz.harness.cli.cases import protocols_for
from epochfuzz.harness.views.report import from_cases, html

_ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(\w+) .*$", re.MULTILINE)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the page that lists the cases, and a page for each of them to step through."""
    cases = [judge(case, protocols_for(case, None)) for case in load_corpus([_ROOT / "corpus"])]
    for each in cases:
        page = html.render(from_cases.page([each]))
        files.append(File.generated(config, f"cases/{each.case.id}.html", content=page))
    files.append(File.generated(config, "cases.md", content=_list_of(cases)))
    return files


def _list_of(cases: list[JudgedCase]) -> str:
    rows = [f"| [{each.case.id}](cases/{each.case.id}.html) | {_first_sentence(each)} |" for each in cases]
    head = "# Every case, step by step\n\nEach opens in the browser as it is: arrow keys go from step to step.\n\n"
    return head + "\n".join(["| case | why |", "| --- | --- |", *rows]) + "\n"


def _first_sentence(judged: JudgedCase) -> str:
    return re.split(r"(?<=[.:;]) ", " ".join(judged.case.why.split()))[0].rstrip(":;").replace("|", "\\|")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Leave out what tests alone read in fences, and links to what is in a checkout and not on the site."""
    here = Path(page.file.src_path).parent

    def linked(match: re.Match[str]) -> str:
        stays = "://" in match[2] or not _is_outside(here / match[2])
        return match[0] if stays else match[1]

    return _LINK.sub(linked, _FENCE.sub(r"```\1", markdown))


def _is_outside(path: Path) -> bool:
    depth = 0
    for part in path.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False
