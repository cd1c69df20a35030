"""A page in the browser, with a list of everything that goes wrong in it, and files that a browser can load."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Request


@contextmanager
def watched(browser: Browser, is_own: Callable[[Request], bool]) -> Iterator[tuple[Page, list[str]]]:
    """Open a page of 1280 by 900 pixels. The list has its errors, its console lines, and each request not its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text))
    context.on("request", lambda request: None if is_own(request) else troubles.append(request.url))
    yield page, troubles
    context.close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing."""


@contextmanager
def served(directory: Path) -> Iterator[str]:
    """Serve the files of a directory from this process, on 127.0.0.1. Yields the address, which ends with a slash."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(directory)))
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    serving.join()
    server.server_close()
