"""Extras: optional dependencies, and the commands that install them.

Without extras, epochfuzz offers cases and state machines in pytest, random runs, searches, replays and drawings.
"""

import importlib.util
import re
from pathlib import Path
from typing import Any, Final

# For each extra of pyproject.toml: its purpose, and the modules that it installs.
EXTRAS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "spark": ("this runs on Spark", ("pandas", "pyarrow", "pyspark", "scipy")),
    "client": ("this speaks Kafka's protocol to clients", ("kio",)),
    "cluster": ("this talks to Kafka by its clients", ("confluent_kafka",)),
    "report": ("the report of a run has plots and estimates", ("pygal", "scipy")),
}
OLDEST_SPARK: Final = (3, 5)  # the oldest supported release, of PySpark and of a Spark server


class MissingExtra(Exception):
    """An extra is missing or too old. The message gives its purpose, and the command that installs it."""


def is_installed(extra: str) -> bool:
    """Return whether all modules of an extra are installed and new enough."""
    return not _missing(extra) and (extra != "spark" or not _wrong_with_spark())


def _missing(extra: str) -> list[str]:
    return [module for module in EXTRAS[extra][1] if importlib.util.find_spec(module) is None]


def require(extra: str) -> None:
    """Raise MissingExtra unless all modules of an extra are installed and new enough."""
    purpose, missing = EXTRAS[extra][0], _missing(extra)
    if missing:
        raise MissingExtra(
            f"{purpose}, and {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed:"
            f" pip install 'epochfuzz[{extra}]'"
        )
    wrong = _wrong_with_spark() if extra == "spark" else ""
    if wrong:
        raise MissingExtra(f"{purpose} {'.'.join(map(str, OLDEST_SPARK))} or newer, and {wrong}")


def _wrong_with_spark() -> str:
    """Return the problem with the installed PySpark, and its remedy; empty if there is no problem.

    The function reads the version from PySpark's file `version.py`, because an old PySpark may fail to import. Spark's
    own distributions have no pip metadata, and their PySpark may be in a zip file.
    """
    spec: Any = importlib.util.find_spec("pyspark")
    text = spec.loader.get_data(str(Path(spec.submodule_search_locations[0], "version.py"))).decode()
    version = re.search(r"""__version__.*["'](?P<all>(?P<major>\d+)\.(?P<minor>\d+).*)["']""", text)
    if version is None:
        return ""
    release = int(version["major"]), int(version["minor"])
    if release < OLDEST_SPARK:
        return f"PySpark {version['all']} is installed: pip install 'pyspark>={'.'.join(map(str, OLDEST_SPARK))}'"
    if release < (4, 0) and importlib.util.find_spec("distutils") is None:
        return f"PySpark {version['all']} needs distutils, which this Python no longer has: pip install setuptools"
    return ""
