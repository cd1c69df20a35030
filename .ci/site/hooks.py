"""Add pages for cases, recorded walks and the playground to the site, and link every KIP and KAFKA number.

If a page links to a file that only a checkout has, the site shows the text of the link. If the file is a case, the
site links to the case in the playground instead.
"""

import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import playground  # in the directory of this file
import recorded
from mkdocs.structure.files import File

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cases.verdict import JudgedCase, judge
from epochfuzz.harness.cli.cases import protocols_for
from epochfuzz.harness.links.play_link import base_address
from epochfuzz.harness.reference import issues
from epochfuzz.harness.views import play_links
from epochfuzz.harness.views.report import from_cases, html

_ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(\w+) .*$", re.MULTILINE)
_TOOL = '<p class="tool">epochfuzz report</p>'
_WAY_BACK = """<form action="../" role="search" style="float: right" onkeydown="event.stopPropagation()">
<input type="search" name="q" placeholder="Search" aria-label="Search the documentation">
</form>
<p class="tool"><a href="../">epochfuzz</a> / <a href="./">cases</a></p>"""
_COMMENT = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)
_TITLE = re.compile(r"^# .*\n", re.MULTILINE)
_CASE = re.compile(r"/([a-z0-9-]+)\.yaml|`([a-z0-9-]+)`")
_CLIENT_CASES = _ROOT / "harness" / "conform" / "client" / "cases"
_RELATED = {"fetch-before-registration": "kip-903-former-incarnation-joins"}  # the model cannot play the page's steps
_PLAY = "play/index.html"
_in_playground: dict[str, str] = {}  # the query of each case, by its id; empty if the site has no playground
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add a list of the cases, a page to step through each case, the recorded walks, and the playground."""
    cases = [judge(case, protocols_for(case, None)) for case in load_corpus([_ROOT / "corpus"])]
    _in_playground.clear()
    playable = [*cases, *_client_cases_of_findings(config)]
    queries = {each.case.id: query for each in playable if (query := _query(each))}
    try:
        for name, content in playground.files([each.case for each in playable], queries.values()):
            files.append(File.generated(config, f"play/{name}", content=content))
        _in_playground.update(queries)
    except playground.NoPyodide as error:
        sys.stderr.write(f"The site has no playground: {error}.\n")
    for each in cases:
        page = html.render(from_cases.page([each])).replace(_TOOL, _WAY_BACK)
        if _in_playground:
            page = page.replace(f'href="{base_address()}?', 'href="../play/?')
        files.append(File.generated(config, f"cases/{each.case.id}.html", content=page))
    by_id = {each.case.id: each.case for each in cases}
    for walk in recorded.WALKS:
        for name, text in recorded.files(walk, by_id[walk.case]):
            files.append(File.generated(config, f"walks/{walk.case}/{name}", content=text))
    files.append(File.generated(config, "cases.md", content=_list_of(cases)))
    return files


def _client_cases_of_findings(config: Any) -> list[JudgedCase]:
    """Return the cases for tests of clients that the pages of findings name."""
    pages = Path(config["docs_dir"], "findings").glob("*.md")
    named = {case for page in pages for case in _cases_named_in(page.read_text(encoding="utf-8"))}
    return [judge(case, protocols_for(case, None)) for case in load_corpus([_CLIENT_CASES]) if case.id in named]


def _query(judged: JudgedCase) -> str:
    return urlsplit(play_links.to_case(judged.case, judged.verdicts) or "").query


def _list_of(cases: list[JudgedCase]) -> str:
    rows = [f"| [{each.case.id}](cases/{each.case.id}.html) | {_first_sentence(each)} |" for each in cases]
    head = "# Every case, step by step\n\nEach opens in the browser as it is: arrow keys go from step to step.\n\n"
    return head + "\n".join(["| case | why |", "| --- | --- |", *rows]) + "\n"


def _first_sentence(judged: JudgedCase) -> str:
    return re.split(r"(?<=[.:;]) ", " ".join(judged.case.why.split()))[0].rstrip(":;").replace("|", "\\|")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Link a page's KIP and KAFKA numbers, recorded walks and cases, and remove its links to files that the site lacks.

    The line that opens a fenced block keeps its language, and loses the words for tests. A comment before the first
    heading is removed, because MkDocs takes the page's title from the heading only if the page starts with the heading.
    """
    here = Path(page.file.src_path).parent
    up = "../" * len(here.parts)

    def linked(match: re.Match[str]) -> str:
        if "://" in match[2] or not _is_outside(here / match[2]):
            return match[0]
        query = _in_playground.get(Path(match[2]).stem)
        return match[1] if query is None else f"[{match[1]}]({up}{_PLAY}?{query})"

    text = _LINK.sub(linked, _FENCE.sub(r"```\1", _COMMENT.sub("", markdown)))
    for walk in recorded.WALKS:
        if page.file.src_path == f"{walk.told_on}.md":
            way = f"**[Step through it](../walks/{walk.case}/0.html)** in this browser."
            text = _TITLE.sub(rf"\g<0>\n{way}\n", text, count=1)
    if here.name == "findings":
        text += _try_cases(Path(page.file.src_path).stem, markdown, f"{up}{_PLAY}")
    if page.file.src_path == "README.md":
        page.meta["hide"] = ["navigation"]  # the sidebar would list only this page
    if page.file.src_path == "README.md" and _in_playground:
        text = _TITLE.sub(rf"\g<0>\n**[Play]({_PLAY})** with schedules in this browser.\n", text, count=1)
    return issues.linked(text)


def _try_cases(name: str, markdown: str, play: str) -> str:
    """Return a section with a playground link for each case that the page names, or else for a related case."""
    named = [case for case in _cases_named_in(markdown) if case in _in_playground]
    related = [case for case in [_RELATED.get(name)] if case in _in_playground]
    heading = "Try the cases of this page" if named else "Try a related case"
    links = "".join(f"* [{case}]({play}?{_in_playground[case]})\n" for case in named or related)
    return f"\n## {heading}\n\n{links}" if links else ""


def _cases_named_in(markdown: str) -> list[str]:
    """Return the words of a page that can be ids of cases: names of YAML files, and words between backticks."""
    return list(dict.fromkeys(file or word for file, word in _CASE.findall(markdown)))


def _is_outside(path: Path) -> bool:
    depth = 0
    for part in path.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False
