"""The files of the playground need no installed package, and render the pages of the local `play`."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from epochfuzz.harness.cases.bundled import bundled_cases
from epochfuzz.harness.links.position import MOST_PROTOCOLS, Position
from epochfuzz.harness.play.pages import Pages
from epochfuzz.harness.play.server import Application
from epochfuzz.harness.play.stories import stories_of
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.documents.playground import playground

# Answers queries as the worker does. -I and -S exclude all installed packages.
ANSWERS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from epochfuzz.harness.play.browser import answer
json.dump([json.loads(answer(query)) for query in json.load(sys.stdin)], sys.stdout)
sys.stderr.write("\\n".join(sys.modules))
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("playground")
    with zipfile.ZipFile(io.BytesIO(playground.packed(bundled_cases()))) as archive:
        archive.extractall(directory)
    return directory


def answers(unpacked: Path, queries: list[str]) -> tuple[list[dict[str, Any]], set[str]]:
    """Return the answers to queries, and the names of all imported modules."""
    command = [sys.executable, "-I", "-S", "-c", ANSWERS, str(unpacked)]
    ended = subprocess.run(command, input=json.dumps(queries), capture_output=True, text=True, check=True)
    return json.loads(ended.stdout), set(ended.stderr.split())


@pytest.mark.thorough
def test_the_playground_renders_every_case_as_the_server_and_needs_only_the_packed_files(unpacked: Path) -> None:
    positions = [
        Position(
            protocols=tuple(map(parse_protocol, case.protocols[:MOST_PROTOCOLS])),
            settings=case.settings,
            events=case.events,
            step=len(case.events),
            case=case.id,
        )
        for case in bundled_cases()
    ]
    there, modules = answers(unpacked, [each.query() for each in positions])
    server = Client(Application(Position(), Path("saved")))
    for position, answer in zip(positions, there, strict=True):
        page = server.get(f"/?{position.query()}", base_url="http://127.0.0.1:8320")
        assert answer["status"] == page.status_code == 200
        assert before_search(answer["text"]) == before_search(page.text), position.case
    foreign = {"hypothesis", "numpy", "numba", "yaml", "rich", "werkzeug", "pydantic", "typer"}
    assert modules & foreign == set()
    assert {"jinja2", "markupsafe", "epochfuzz.harness.play.board"} <= modules


def before_search(page: str) -> str:
    """Return a page without its last part, which differs if the page cannot search or save."""
    return page.partition('<section id="ahead">')[0]


def test_a_playground_page_offers_no_form_that_needs_a_server(unpacked: Path) -> None:
    (answer,), _ = answers(unpacked, [""])
    assert "data-action" not in answer["text"]
    assert "Start with a story" in answer["text"]
    assert f"http://127.0.0.1:8320/?{Position().query()}".replace("&", "&amp;") in answer["text"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("case=%3Cscript%3Ealert(1)%3C/script%3E", "case must be lower-case words"),
        ("events=%3Cimg+src=x+onerror=alert(1)%3E", "an event is a verb and a replica"),
        ("protocol=" + "k" * 60_000, "unknown protocol"),
        ("events=" + "produce+A," * 10_000, "100,007 characters are too many for an address"),
        ("&" * 5_000 + "x", "unknown key 'x' in the address"),
        ("step=%00%FF", "step must be a whole number"),
    ],
)
def test_a_hostile_address_gets_a_short_message_and_none_of_its_markup(unpacked: Path, query: str, said: str) -> None:
    (answer,), _ = answers(unpacked, [query])
    assert answer["status"] == 400
    assert said in answer["text"].replace("&#39;", "'")
    assert "<script>alert" not in answer["text"]
    assert "<img" not in answer["text"]
    assert len(answer["text"]) < 3_000


@pytest.mark.thorough
def test_the_prepared_pages_of_the_site_equal_the_pages_that_the_worker_computes(unpacked: Path) -> None:
    (m1_loss,) = (case for case in bundled_cases() if case.id == "m1-loss")
    link = Position(settings=m1_loss.settings, events=m1_loss.events, step=12).query()
    pages = Pages(Position(), stories_of(bundled_cases()))
    prepared = dict(playground._prepared(pages, [link, link]))
    index = json.loads(prepared["prepared/index.json"])
    computed, _ = answers(unpacked, list(index))

    assert next(iter(index)) == ""
    assert list(index)[-1] == link
    assert len(index) > len(m1_loss.events)
    assert [prepared[f"prepared/{number}.txt"].decode() for number in index.values()] == [
        answer["text"] for answer in computed
    ]


def test_two_builds_pack_the_same_bytes() -> None:
    assert playground.packed(bundled_cases()) == playground.packed(bundled_cases())


def test_building_the_playground_without_npm_raises_an_error_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(playground, "_ARCHIVES", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(playground.NoPyodide, match="npm is not installed"):
        next(playground.files(bundled_cases(), []))


def test_building_the_playground_stops_if_the_pyodide_archive_has_another_hash(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(playground, "_ARCHIVES", tmp_path)
    (tmp_path / f"pyodide-{playground._VERSION}.tgz").write_bytes(b"something else")
    with pytest.raises(SystemExit, match="is pinned; remove the file"):
        next(playground.files(bundled_cases(), []))
