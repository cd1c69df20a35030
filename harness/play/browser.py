"""Return the pages of `play` in a browser without a server. Pyodide runs this module in a web worker."""

import json
from functools import cache
from importlib.resources import files

import epochfuzz.model.kafka.kafka_model  # noqa: F401 - loaded on demand; imported here so that the archive has it
from epochfuzz.harness.links.position import Position
from epochfuzz.harness.play.pages import Pages
from epochfuzz.harness.play.stories import CaseStory

STORIES = "stories.json"  # next to this module: for each case, the query of its start, and its `why`


def answer(query: str) -> str:
    """Return the page for a query as the JSON text of an object with the keys `status` and `text`."""
    answered = _pages().page(query)
    return json.dumps({"status": answered.status, "text": answered.text})


@cache
def _pages() -> Pages:
    text = (files("epochfuzz.harness.play") / STORIES).read_text(encoding="utf-8")
    return Pages(Position(), {case: CaseStory(*told) for case, told in json.loads(text).items()})
