"""The pages of `play`: the responses to all requests that neither search nor save.

Two programs use this module: the server on the user's machine, and Pyodide in the browser of a reader of the site. So
this module and its imports need only Jinja and the standard library.
"""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jinja2 import Environment

from epochfuzz.harness.links.play_link import LOCAL
from epochfuzz.harness.links.position import BadPosition, Position, parse_query, spelled
from epochfuzz.harness.play import board
from epochfuzz.harness.play.ahead import ANY, BUDGETS, MEMORY
from epochfuzz.harness.play.stories import CaseStory, beginnings
from epochfuzz.harness.trace.change import joined
from epochfuzz.harness.views.drawings import svg
from epochfuzz.harness.views.report import templating
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import ACKS, Configuration
from epochfuzz.model.kafka.vocabulary.protocols import NAMED

# The page may load only its own resources. Figures set their minimum and maximum width in inline styles.
POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; form-action 'self';"
    " base-uri 'none'"
)
_MOST_SAID = 300  # characters of an error message; a message repeats parts of the address


@dataclass(frozen=True)
class PlayPage:
    """A response: the HTTP status, and the text of an HTML page.

    `query` is the canonical URL query of the position that the page shows, or None for a page without a position.
    """

    status: HTTPStatus
    text: str
    query: str | None = None


@dataclass(frozen=True)
class Pages:
    """The pages for a user who starts at `start`.

    `stories` has the stories of cases, by id. `directory` is the place for saved cases, or None in a browser
    without a server, where the user can neither save nor search.
    """

    start: Position
    stories: Mapping[str, CaseStory] = field(default_factory=dict)
    directory: Path | None = None

    def page(self, query: str) -> PlayPage:
        """Return the page for the position in a URL query, or a page that names the mistake in the query."""
        try:
            shown = board.Board(parse_query(query) if query else self.start)
        except BadPosition as error:
            return self.mistake(str(error), HTTPStatus.BAD_REQUEST)
        chosen = [protocol.name for protocol in shown.position.protocols]
        text = self._templates.get_template("play.html").render(
            board=shown,
            position=shown.position,
            settings=shown.position.settings,
            inputs=[_input(setting, shown.position.settings) for setting in fields(Configuration)],
            chosen=chosen,
            choosable=dict.fromkeys([*NAMED, *chosen]),
            directory=self.directory,
            local=LOCAL,
            story=self._story(shown.position),
            beginnings=() if shown.position.events else tuple(beginnings(self.stories)),
        )
        return PlayPage(HTTPStatus.OK, text, shown.position.query())

    def mistake(self, message: str, status: HTTPStatus) -> PlayPage:
        """Return the page that shows `message`, the reason why a request is not valid."""
        said = message if len(message) <= _MOST_SAID else f"{message[:_MOST_SAID]}…"
        text = self._templates.get_template("mistake.html").render(message=said, start=self.start.query())
        return PlayPage(status, text)

    def file(self, name: str, **values: Any) -> str:
        """Return the text of a template that shows no position, such as `play.css` or `play.js`."""
        return self._templates.get_template(name).render(values)

    def _story(self, position: Position) -> str:
        """Return the description of the position's case. Empty if the schedule or the settings differ from the case."""
        story = self.stories.get(position.case)
        return story.why if story is not None and story.tells_of(position) else ""

    @cached_property
    def _templates(self) -> Environment:
        environment = templating.environment("epochfuzz.harness.play")
        environment.globals |= {
            "any_property": ANY,
            "budgets": BUDGETS,
            "gibibytes": MEMORY >> 30,
            "least_width": svg.least_width,
            "properties": properties.NAMES,
        }
        environment.filters |= {"names": joined, "spelled": spelled}
        return environment


def _input(setting: "Field[Any]", settings: Configuration) -> dict[str, Any]:
    """Return the data that the page's form needs about a setting."""
    value = getattr(settings, setting.name)
    about = {"name": setting.name, "value": value, **setting.metadata}
    if isinstance(value, bool):
        return {**about, "kind": "flag"}
    return {**about, "kind": "number"} if isinstance(value, int) else {**about, "kind": "choice", "choices": [*ACKS]}
