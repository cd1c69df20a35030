"""The server of the page. It listens on the loopback interface only, and serves a single user.

Any page in the browser can send requests to this server. If a page reaches the server by another host name (DNS
rebinding), the Host header shows this name. If a page of another origin requests a write or a search, the Origin header
shows that origin. The server rejects both.
"""

import json
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from werkzeug.exceptions import BadRequest, Forbidden, HTTPException, NotFound, SecurityError
from werkzeug.routing import Map, Rule
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

from epochfuzz.harness.cases.bundled import bundled_cases
from epochfuzz.harness.links.play_link import HOST
from epochfuzz.harness.links.position import BadPosition, Position, parse_query
from epochfuzz.harness.play.ahead import ANY, BUDGETS, CannotSearch, LookAhead, Searches
from epochfuzz.harness.play.pages import POLICY, Pages, PlayPage
from epochfuzz.harness.play.saving import CannotSave, IsThere, save
from epochfuzz.harness.play.stories import CaseStory, stories_of
from epochfuzz.model.kafka.contract import properties

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_TRUSTED_HOSTS = [HOST, "localhost"]
_MOST_BYTES = 1 << 17  # size limit of a form

_HEADERS = {
    "Content-Security-Policy": f"{POLICY}; script-src 'self'; frame-ancestors 'none'",
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


@dataclass
class Application:
    """The page and its resources as a WSGI application. The page opens at `start`, and saves cases in `directory`.

    `story` is the description of the case that the user opened.
    """

    start: Position
    directory: Path
    story: str = ""
    searches: Searches = field(default_factory=Searches)

    @cached_property
    def pages(self) -> Pages:
        """The pages that the server returns."""
        opened = {self.start.case: CaseStory(self.start.query(), self.story)} if self.story else {}
        return Pages(self.start, stories_of(bundled_cases()) | opened, self.directory)

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
        status = HTTPStatus(error.code or HTTPStatus.BAD_REQUEST)
        return _html(self.pages.mistake(error.description or "", status))

    def _page(self, request: Request) -> Response:
        given = request.query_string.decode("ascii", "replace")
        answer = self.pages.page(given)
        return redirect(f"/?{answer.query}", 303) if answer.query not in (given, None) else _html(answer)

    def _style(self, request: Request) -> Response:
        return Response(self.pages.file("play.css"), mimetype="text/css")

    def _script(self, request: Request) -> Response:
        return Response(self.pages.file("play.js"), mimetype="text/javascript")

    def _search(self, request: Request) -> Response:
        form = request.form
        position = _position(form.get("position", "")).on_schedule
        protocol = next((each for each in position.protocols if each.name == form.get("under")), None)
        if protocol is None:
            raise BadRequest(f"{form.get('under')!r} is not a protocol of this page")
        seconds = next((each for each in BUDGETS if str(each) == form.get("seconds")), BUDGETS[0])
        search = LookAhead(position=position, protocol=protocol, property=form.get("property", ANY), seconds=seconds)
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
        position = _position(form.get("position", ""))
        try:
            replace = form.get("replace") == "yes"
            file = save(position, form.get("id", ""), form.get("why", ""), self.directory, replace=replace)
        except CannotSave as error:
            return _json({"answer": str(error), "is_there": isinstance(error, IsThere)})
        return _json({"answer": f"Saved as {file}", "command": f"epochfuzz replay {quote(str(file))} --trace"})


def _position(query: str) -> Position:
    try:
        return parse_query(query)
    except BadPosition as error:
        raise BadRequest(str(error)) from None


def _html(answer: PlayPage) -> Response:
    return Response(answer.text, answer.status, mimetype="text/html")


def _json(document: dict[str, Any]) -> Response:
    return Response(json.dumps(document), mimetype="application/json")


class _Silent(WSGIRequestHandler):
    """A request handler that logs nothing."""

    def log(self, type: str, message: str, *args: Any) -> None:
        """Ignore the message."""


def listen(application: Application, port: int) -> BaseWSGIServer:
    """Return a server that already listens on the loopback interface. Port 0 selects a free port. Raises OSError."""
    with socket.create_server((HOST, port)) as listening:  # werkzeug's own socket code exits the process on an error
        taken = listening.getsockname()[1]
        return make_server(HOST, taken, application, threaded=True, request_handler=_Silent, fd=listening.fileno())
