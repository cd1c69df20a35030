"""What `make site` does beside MkDocs: pages for cases and recorded walks, and links.

Every KIP and KAFKA number is a link. What only a checkout has is named, and not linked.
"""

import re
from pathlib import Path
from typing import Any

import recorded  # beside this file
from mkdocs.structure.files import File

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cases.verdict import JudgedCase, judge
from epochfuzz.harness.cli.cases import protocols_for
from epochfuzz.harness.reference import issues
from epochfuzz.harness.views.report import from_cases, html

_ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(\w+) .*$", re.MULTILINE)
_TOOL = '<p class="tool">epochfuzz report</p>'
_WAY_BACK = '<p class="tool"><a href="../">epochfuzz</a> / <a href="./">cases</a></p>'
_TITLE = re.compile(r"^# .*\n", re.MULTILINE)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the page that lists the cases, a page for each of them to step through, and the recorded walks."""
    cases = [judge(case, protocols_for(case, None)) for case in load_corpus([_ROOT / "corpus"])]
    for each in cases:
        page = html.render(from_cases.page([each])).replace(_TOOL, _WAY_BACK)
        files.append(File.generated(config, f"cases/{each.case.id}.html", content=page))
    by_id = {each.case.id: each.case for each in cases}
    for walk in recorded.WALKS:
        for name, text in recorded.files(walk, by_id[walk.case]):
            files.append(File.generated(config, f"walks/{walk.case}/{name}", content=text))
    files.append(File.generated(config, "cases.md", content=_list_of(cases)))
    return files


def _list_of(cases: list[JudgedCase]) -> str:
    rows = [f"| [{each.case.id}](cases/{each.case.id}.html) | {_first_sentence(each)} |" for each in cases]
    head = "# Every case, step by step\n\nEach opens in the browser as it is: arrow keys go from step to step.\n\n"
    return head + "\n".join(["| case | why |", "| --- | --- |", *rows]) + "\n"


def _first_sentence(judged: JudgedCase) -> str:
    return re.split(r"(?<=[.:;]) ", " ".join(judged.case.why.split()))[0].rstrip(":;").replace("|", "\\|")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Link numbers and walks; leave out what tests alone read in fences, and links to what is not on the site."""
    here = Path(page.file.src_path).parent

    def linked(match: re.Match[str]) -> str:
        stays = "://" in match[2] or not _is_outside(here / match[2])
        return match[0] if stays else match[1]

    text = _LINK.sub(linked, _FENCE.sub(r"```\1", markdown))
    for walk in recorded.WALKS:
        if page.file.src_path == f"{walk.told_on}.md":
            way = f"**[Step through it](../walks/{walk.case}/0.html)** in this browser."
            text = _TITLE.sub(rf"\g<0>\n{way}\n", text, count=1)
    return issues.linked(text)


def _is_outside(path: Path) -> bool:
    depth = 0
    for part in path.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False
