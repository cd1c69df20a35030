"""The server of the page. It listens on the loopback interface only, and serves a single user.

Any page in the browser can send requests to this server. If a page reaches the server by another host name (DNS
rebinding), the Host header shows this name. If a page of another origin requests a write or a search, the Origin header
shows that origin. The server rejects both.
"""

import json
import socket
from collections.abc import Callable, Iterable
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from jinja2 import Environment
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import BadRequest, Forbidden, HTTPException, NotFound, SecurityError
from werkzeug.routing import Map, Rule
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

from epochfuzz.harness.play import board
from epochfuzz.harness.play.ahead import ANY, BUDGETS, MEMORY, CannotSearch, LookAhead, Searches
from epochfuzz.harness.play.position import BadPosition, Position, parse, spelled
from epochfuzz.harness.play.saving import CannotSave, IsThere, save
from epochfuzz.harness.views.drawings import svg
from epochfuzz.harness.views.report import html
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import ACKS, Configuration
from epochfuzz.model.kafka.vocabulary.protocols import NAMED

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

HOST = "127.0.0.1"
_TRUSTED_HOSTS = [HOST, "localhost"]
_MOST_BYTES = 1 << 17  # of a form

# The page may load only its own resources. Figures set their minimum and maximum width in inline styles.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:;"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_URLS = Map(
    [
        Rule("/", endpoint="page", methods=["GET"]),
        Rule("/play.css", endpoint="style", methods=["GET"]),
        Rule("/play.js", endpoint="script", methods=["GET"]),
        Rule("/search", endpoint="search", methods=["POST"]),
        Rule("/search/<int:number>", endpoint="progress", methods=["GET"]),
        Rule("/search/<int:number>/cancel", endpoint="cancel", methods=["POST"]),
        Rule("/save", endpoint="save", methods=["POST"]),
    ]
)


def _environment() -> Environment:
    environment = html.environment("epochfuzz.harness.play")
    environment.globals |= {
        "any_property": ANY,
        "budgets": BUDGETS,
        "gibibytes": MEMORY >> 30,
        "least_width": svg.least_width,
        "properties": properties.NAMES,
    }
    environment.filters |= {"names": board.names, "spelled": spelled}
    return environment


@dataclass
class Application:
    """The page and its resources as a WSGI application. It opens at `start`, and saves cases in `directory`.

    `story` is the description of the case that the user opened.
    """

    start: Position
    directory: Path
    story: str = ""
    searches: Searches = field(default_factory=Searches)
    _templates: Environment = field(default_factory=_environment)

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Respond to a request."""
        request = Request(environ)
        request.trusted_hosts = _TRUSTED_HOSTS
        request.max_content_length = request.max_form_memory_size = _MOST_BYTES
        try:
            response = self._answered(request)
        except SecurityError:
            response = Response("this is epochfuzz play; the request names another host\n", 400, mimetype="text/plain")
        except HTTPException as error:
            response = self._mistake(error)
        response.headers.update(_HEADERS)
        return response(environ, start_response)

    def _answered(self, request: Request) -> Response:
        _ = request.host  # raises SecurityError for an untrusted Host
        endpoint, arguments = _URLS.bind_to_environ(request.environ).match()
        if request.method == "POST" and request.headers.get("Origin") != request.host_url.rstrip("/"):
            raise Forbidden("only the page of epochfuzz play may send this request")
        answer: Callable[..., Response] = getattr(self, f"_{endpoint}")
        return answer(request, **arguments)

    def _mistake(self, error: HTTPException) -> Response:
        text = self._templates.get_template("mistake.html").render(message=error.description, start=self.start.query())
        return Response(text, error.code, mimetype="text/html")

    def _page(self, request: Request) -> Response:
        given = request.query_string.decode("ascii", "replace")
        if not given:
            return redirect(f"/?{self.start.query()}", 303)
        shown = board.Board(_position(request.args))
        query = shown.position.query()
        if query != given:
            return redirect(f"/?{query}", 303)
        chosen = [protocol.name for protocol in shown.position.protocols]
        text = self._templates.get_template("play.html").render(
            board=shown,
            position=shown.position,
            settings=shown.position.settings,
            inputs=[_input(setting, shown.position.settings) for setting in fields(Configuration)],
            chosen=chosen,
            choosable=dict.fromkeys([*NAMED, *chosen]),
            directory=self.directory,
            story=self._story(shown.position),
        )
        return Response(text, mimetype="text/html")

    def _story(self, position: Position) -> str:
        """Return the story of the opened case, while the position is on its schedule."""
        is_of_the_case = (position.events, position.settings) == (self.start.events, self.start.settings)
        return self.story if is_of_the_case else ""

    def _style(self, request: Request) -> Response:
        return Response(self._templates.get_template("play.css").render(), mimetype="text/css")

    def _script(self, request: Request) -> Response:
        return Response(self._templates.get_template("play.js").render(), mimetype="text/javascript")

    def _search(self, request: Request) -> Response:
        form = request.form
        position = _position(_query(form)).on_schedule
        protocol = next((each for each in position.protocols if each.name == form.get("under")), None)
        if protocol is None:
            raise BadRequest(f"{form.get('under')!r} is not a protocol of this page")
        seconds = next((each for each in BUDGETS if str(each) == form.get("seconds")), BUDGETS[0])
        search = LookAhead(position, protocol, form.get("property", ANY), seconds)
        try:
            return _json({"search": self.searches.start(search)})
        except (CannotSearch, properties.UnknownProperty) as error:
            return _json({"answer": str(error)})

    def _progress(self, request: Request, number: int) -> Response:
        return _json(self._numbered(number).plain())

    def _cancel(self, request: Request, number: int) -> Response:
        self._numbered(number).cancel()
        return _json({})

    def _numbered(self, number: int) -> LookAhead:
        search = self.searches.numbered(number)
        if search is None:
            raise NotFound("this search has ended, because a later search has replaced it")
        return search

    def _save(self, request: Request) -> Response:
        form = request.form
        position = _position(_query(form))
        try:
            replace = form.get("replace") == "yes"
            file = save(position, form.get("id", ""), form.get("why", ""), self.directory, replace=replace)
        except CannotSave as error:
            return _json({"answer": str(error), "is_there": isinstance(error, IsThere)})
        return _json({"answer": f"Saved as {file}", "command": f"epochfuzz replay {quote(str(file))} --trace"})


def _input(setting: "Field[Any]", settings: Configuration) -> dict[str, Any]:
    """Return the data of a setting for the form."""
    value = getattr(settings, setting.name)
    about = {"name": setting.name, "value": value, **setting.metadata}
    if isinstance(value, bool):
        return {**about, "kind": "flag"}
    return {**about, "kind": "number"} if isinstance(value, int) else {**about, "kind": "choice", "choices": [*ACKS]}


def _query(form: MultiDict[str, str]) -> MultiDict[str, str]:
    """Return the query of the page that sent the form."""
    return Request.from_values(query_string=form.get("position", "")).args


def _position(arguments: MultiDict[str, str]) -> Position:
    try:
        return parse(dict(arguments.lists()))
    except BadPosition as error:
        raise BadRequest(str(error)) from None


def _json(document: dict[str, Any]) -> Response:
    return Response(json.dumps(document), mimetype="application/json")


class _Silent(WSGIRequestHandler):
    """A request handler that logs nothing."""

    def log(self, type: str, message: str, *args: Any) -> None:
        """Ignore the message."""


def listen(application: Application, port: int) -> BaseWSGIServer:
    """Return a server that already listens. Port 0 selects a free port. Raises OSError."""
    with socket.create_server((HOST, port)) as listening:  # werkzeug's own socket code exits the process on an error
        taken = listening.getsockname()[1]
        return make_server(HOST, taken, application, threaded=True, request_handler=_Silent, fd=listening.fileno())
