"""Extras: what pip installs only where it is asked for, and how to ask for it.

Without any there are cases and state machines in pytest, walks, searches, replays and drawings.
"""

import importlib.util
from typing import Final

# What each extra of pyproject.toml is for, and the modules that come with it.
EXTRAS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "spark": ("this runs on Spark", ("pandas", "pyarrow", "pyspark", "scipy")),
    "cluster": ("this talks to Kafka by its clients", ("confluent_kafka",)),
    "report": ("the report of a run has plots and estimates", ("pygal", "scipy")),
}


class MissingExtra(Exception):
    """An extra is not installed; the message says for what it is needed, and which command installs it."""


def is_installed(extra: str) -> bool:
    """Whether all that an extra brings is installed."""
    return not _missing(extra)


def _missing(extra: str) -> list[str]:
    return [module for module in EXTRAS[extra][1] if importlib.util.find_spec(module) is None]


def require(extra: str) -> None:
    """Raise MissingExtra unless all that an extra brings is installed."""
    purpose, missing = EXTRAS[extra][0], _missing(extra)
    if missing:
        raise MissingExtra(
            f"{purpose}, and {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed:"
            f" pip install 'epochfuzz[{extra}]'"
        )
