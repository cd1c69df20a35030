"""Write recorded walks: the pages of `epochfuzz play` at each step of a case, as files that need no server.

The files are the server's responses, and their links work without a script. A link to a step of the case leads to the
file of that step. Another event or a search needs the server, so these links lead to a section with the command.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

from werkzeug.test import Client

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.links.position import Position
from epochfuzz.harness.play.server import Application
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

_HOST = "http://127.0.0.1"
_LINK = re.compile(r'href="(\?[^"]*|play\.css|\./)"')
_SCRIPT = '<script src="play.js" defer></script>'
_COMPUTED = re.compile(r'<section id="ahead">.*(?=</main>)', re.DOTALL)
_KEYS = """
<script>
const KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };
addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  document.getElementById(KEYS[event.key])?.click();
});
</script>
"""


@dataclass(frozen=True)
class Walk:
    """A recorded walk: the case, the protocols that run it, and the page of the site that describes it."""

    case: str
    protocols: tuple[str, ...]
    told_on: str


WALKS = (
    Walk("m1-loss", ("hw", "kip-101"), "start/walk"),
    Walk("re-elected-leader", ("kafka-4.1", "kip-966"), "findings/re-elected-leader"),
)


def files(walk: Walk, case: Case) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file of a walk. `0.html` is the start, and `play.css` is the style sheet."""
    position = Position(
        protocols=tuple(map(parse_protocol, walk.protocols)),
        settings=case.settings,
        events=case.events,
        step=0,
        branches=(),
        case=case.id,
    )
    client = Client(Application(position, Path()))
    yield "play.css", client.get("/play.css", base_url=_HOST).text
    steps = {f"?{position.at(step).query()}": f"{step}.html" for step in range(len(case.events) + 1)}
    for query, name in steps.items():
        answer = client.get(f"/{query}", base_url=_HOST)
        assert answer.status_code == 200, query
        yield name, _standing_alone(answer.text, steps, walk)


def _standing_alone(page: str, steps: dict[str, str], walk: Walk) -> str:
    """Return a page whose links lead to files of the walk, or else to the section about the recording."""
    style = {"play.css": "play.css"}
    page = _COMPUTED.sub(lambda _: _about(walk), page.replace(_SCRIPT, "")).replace("</body>", f"{_KEYS}</body>")
    page = page.replace('<details id="refused" open>', '<details id="refused">')
    return _LINK.sub(lambda link: f'href="{(style | steps).get(unescape(link[1]), "#another-way")}"', page)


def _about(walk: Walk) -> str:
    names = [word for name in walk.protocols for word in ("--protocol", name)]
    command = escape(shlex.join(["epochfuzz", "play", walk.case, *names]))
    return f"""<section id="another-way">
<h2>Another way</h2>
<p>These pages are a recording: the arrow keys, the buttons and the track go from step to step. To click an event that
is not the next one, or to search from here for the shortest way to a broken property,
<a href="../../start/quickstart/">install epochfuzz</a> and run <code>{command}</code>.</p>
<p><a href="../../{walk.told_on}/">What happens here, told</a> · <a href="../../cases/">All cases</a> ·
<a href="../../">Documentation</a></p>
</section>
"""
