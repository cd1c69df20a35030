"""Write the playground: `epochfuzz play` as static files, which Pyodide runs in the reader's browser.

Pyodide comes from its npm package, pinned by version and hash. The archive of the package stays in build/pyodide. If
the archive is missing and npm cannot load it, the site has no playground.
"""

import base64
import hashlib
import io
import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import distribution
from pathlib import Path

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.environment.bare_imports import imported_files
from epochfuzz.harness.links.position import Position
from epochfuzz.harness.play.browser import STORIES
from epochfuzz.harness.play.pages import POLICY, Pages
from epochfuzz.harness.play.stories import beginnings, stories_of

_ROOT = Path(__file__).resolve().parents[2]
_SOURCE = _ROOT / "src"
_ARCHIVES = _ROOT / "build" / "pyodide"

_VERSION = "314.0.7"
_HASH = "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
_OF_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")

# The browser compiles WebAssembly from bytes. The worker starts from a blob, and the blob imports a file of the site.
_POLICY = f"{POLICY}; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:"
_LIBRARIES = ("jinja2", "markupsafe")  # only their Python code and licenses
_READ = (
    "play/templates/play.html",
    "play/templates/mistake.html",
    "views/drawings/figures.css",
    "views/report/templates/scene.html",
    "views/report/templates/tables.html",
)


class NoPyodide(Exception):
    """Pyodide is not available. The message says why."""


def files(cases: Sequence[Case], arrivals: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the path, below the playground's directory, and the content of each file. Raises NoPyodide.

    `arrivals` are the queries of links on the site. The site holds their pages, because Python takes seconds to start.
    """
    archive = _archive()
    pages = Pages(Position(), stories_of(cases))
    yield from _prepared(pages, arrivals)
    for name in ("play.css", "play.js", "browser.js", "worker.js"):
        yield name, pages.file(name).encode()
    python = packed(cases)
    yield "epochfuzz.zip", python
    version = hashlib.sha256(python).hexdigest()[:16]
    yield "index.html", pages.file("site.html", policy=_POLICY, version=version).encode()
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for name in _OF_PYODIDE:
            member = tar.extractfile(f"package/{name}")
            assert member is not None, name
            yield f"pyodide/{name}", member.read()


def _prepared(pages: Pages, arrivals: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield a page for each query, the start page, and all pages of the stories on the start page; then the index.

    These files are no pages of the site: their links are relative to the playground's own page.
    """
    starts = [beginning.position for beginning in beginnings(pages.stories)]
    steps = (start.at(step).query() for start in starts for step in range(len(start.events) + 2))
    index = {query: number for number, query in enumerate(dict.fromkeys(["", *steps, *arrivals]))}
    for query, number in index.items():
        yield f"prepared/{number}.txt", pages.page(query).text.encode()
    yield "prepared/index.json", json.dumps(index).encode()


def _archive() -> bytes:
    """Return the npm package of Pyodide. Raises NoPyodide, or SystemExit if its hash is not the pinned hash."""
    file = _ARCHIVES / f"pyodide-{_VERSION}.tgz"
    if not file.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise NoPyodide("npm is not installed")
        file.parent.mkdir(parents=True, exist_ok=True)
        command = [npm, "pack", "--silent", "--pack-destination", str(file.parent), f"pyodide@{_VERSION}"]
        ended = subprocess.run(command, cwd=file.parent, stdout=subprocess.DEVNULL, check=False)
        if ended.returncode != 0 or not file.exists():
            raise NoPyodide("npm did not deliver Pyodide")
    content = file.read_bytes()
    digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
    if f"sha512-{digest}" != _HASH:
        raise SystemExit(f"{file}: its hash is sha512-{digest}, and {_HASH} is pinned; remove the file")
    return content


def packed(cases: Iterable[Case]) -> bytes:
    """Return a zip archive of the Python files, templates and styles that the worker needs, with the cases' stories."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(_contents(cases)):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # equal dates in all builds
    return packed.getvalue()


def _contents(cases: Iterable[Case]) -> Iterator[tuple[str, bytes]]:
    with tempfile.TemporaryDirectory() as directory:
        libraries = Path(directory)
        for name in _LIBRARIES:
            for path in distribution(name).files or ():
                if path.suffix == ".py" or "licenses" in path.parts:
                    content = path.read_binary()
                    yield path.as_posix(), content
                    copy = libraries / path
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_bytes(content)
        for file in imported_files("epochfuzz.harness.play.browser", _SOURCE, [libraries]):
            yield file.relative_to(_SOURCE).as_posix(), file.read_bytes()
    for name in _READ:
        yield f"epochfuzz/harness/{name}", (_SOURCE / "epochfuzz" / "harness" / name).read_bytes()
    yield f"epochfuzz/harness/play/{STORIES}", json.dumps(_stories(cases)).encode()


def _stories(cases: Iterable[Case]) -> dict[str, tuple[str, str]]:
    return {case: (story.query, story.why) for case, story in stories_of(cases).items()}
