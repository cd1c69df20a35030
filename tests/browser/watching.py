"""A page in the browser, with a list of everything that goes wrong in it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
