"""Extras: what pip installs only where it is asked for, and how to ask for it.

Without any there are cases and state machines in pytest, walks, searches, replays and drawings.
"""

import importlib.util
import re
from pathlib import Path
from typing import Any, Final

# What each extra of pyproject.toml is for, and the modules that come with it.
EXTRAS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "spark": ("this runs on Spark", ("pandas", "pyarrow", "pyspark", "scipy")),
    "cluster": ("this talks to Kafka by its clients", ("confluent_kafka",)),
    "report": ("the report of a run has plots and estimates", ("pygal", "scipy")),
}
OLDEST_SPARK: Final = (3, 5)  # of a server as well


class MissingExtra(Exception):
    """An extra is not installed, or too old; the message says for what it is needed, and which command installs it."""


def is_installed(extra: str) -> bool:
    """Whether all that an extra brings is installed, and new enough."""
    return not _missing(extra) and (extra != "spark" or spark_that_is_too_old() is None)


def _missing(extra: str) -> list[str]:
    return [module for module in EXTRAS[extra][1] if importlib.util.find_spec(module) is None]


def require(extra: str) -> None:
    """Raise MissingExtra unless all that an extra brings is installed, and new enough."""
    purpose, missing = EXTRAS[extra][0], _missing(extra)
    if missing:
        raise MissingExtra(
            f"{purpose}, and {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed:"
            f" pip install 'epochfuzz[{extra}]'"
        )
    old = spark_that_is_too_old() if extra == "spark" else None
    if old is not None:
        oldest = ".".join(map(str, OLDEST_SPARK))
        raise MissingExtra(
            f"{purpose} {oldest} or newer, and PySpark {old} is installed: pip install 'pyspark>={oldest}'"
        )


def spark_that_is_too_old() -> str | None:
    """Return the version of the PySpark that would be imported, if it is too old; an old one may not even import.

    Spark's own distributions have no metadata of pip's, and their PySpark may be in a zip.
    """
    spec: Any = importlib.util.find_spec("pyspark")
    text = spec.loader.get_data(str(Path(spec.submodule_search_locations[0], "version.py"))).decode()
    version = re.search(r"""__version__.*["'](?P<all>(?P<major>\d+)\.(?P<minor>\d+).*)["']""", text)
    is_old = version is not None and (int(version["major"]), int(version["minor"])) < OLDEST_SPARK
    return version["all"] if version is not None and is_old else None
