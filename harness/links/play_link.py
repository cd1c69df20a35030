"""Link to a position in `play`, on the site that the user names, or on this machine.

The user names the site with the environment variable EPOCHFUZZ_PLAY_URL, or with `play_url` in `[tool.epochfuzz]` of
pyproject.toml.
"""

import os
from collections.abc import Iterable

from epochfuzz.harness.links.position import MOST_EVENTS, MOST_PROTOCOLS, Position
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.strategies.project import checked_play_url, project

HOST = "127.0.0.1"
PORT = 8320
LOCAL = f"http://{HOST}:{PORT}/"  # `epochfuzz play` without --port
VARIABLE = "EPOCHFUZZ_PLAY_URL"


def play_link(
    protocols: Iterable[Protocol], settings: Configuration, events: bytes, step: int = 0, case: str = ""
) -> str | None:
    """Return the URL that opens a schedule at a step in `play`; None if the schedule is too long for `play`.

    `play` shows at most MOST_PROTOCOLS protocols side by side, so the URL has only the first MOST_PROTOCOLS of
    `protocols`. `case` is the id of the case that has the schedule. Raises ProjectError.
    """
    if len(events) > MOST_EVENTS:
        return None
    shown = tuple(dict.fromkeys(protocols))[:MOST_PROTOCOLS]
    return (
        f"{base_address()}?{Position(protocols=shown, settings=settings, events=events, step=step, case=case).query()}"
    )


def base_address() -> str:
    """Return the address of `play`. A link adds a query to this address. Raises ProjectError.

    The address is the value of the environment variable EPOCHFUZZ_PLAY_URL. If this variable is not set, the address is
    `play_url` in pyproject.toml, or else LOCAL, an address on this machine.
    """
    return address_in_environment() or project().play_url or LOCAL


def address_in_environment() -> str:
    """Return the address in the environment variable EPOCHFUZZ_PLAY_URL, or an empty text if it is not set.

    Raises ProjectError if the value is not an address.
    """
    given = os.environ.get(VARIABLE)
    return checked_play_url(given, VARIABLE) if given else ""
