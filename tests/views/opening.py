"""Open the links that commands print: the position on the page of `play`, and the violations that the page shows."""

import re

from epochfuzz.harness.links.position import Position, parse_query
from epochfuzz.harness.play.pages import Pages

SITE = "https://example.org/play/"
PAGES = Pages(Position())


def links(text: str) -> list[str]:
    """The links in the lines that begin with `play:`."""
    return re.findall(r"^play: (\S+)", text, re.MULTILINE)


def opened(link: str) -> Position:
    """The position that the page of a link shows."""
    base, _, query = link.partition("?")
    assert base == SITE
    answer = PAGES.page(query)
    assert answer.status == 200
    assert answer.query == query
    return parse_query(query)


def breaks(there: Position, protocol: str, property_: str) -> bool:
    """Whether the page of a position shows that its step breaks a property under its first protocol."""
    text = PAGES.page(there.query()).text
    shown = re.findall(r"BROKEN: ([^<]*)", text)
    return there.protocols[0].name == protocol and any(property_ in each for each in shown)
