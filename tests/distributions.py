"""The requirements in pyproject.toml, and the distributions that these need in this environment."""

import importlib.metadata
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def project_table() -> dict[str, Any]:
    """Return the table `project` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def required_by_extras(*extras: str) -> list[str]:
    """Return the requirements of extras, without our own extras."""
    project = project_table()
    texts = [text for extra in extras for text in project["optional-dependencies"][extra]]
    return [text for text in texts if Requirement(text).name != project["name"]]


def distributions_needed(requirements: Iterable[str]) -> set[str]:
    """Return the distributions that requirements need in this environment, directly or indirectly."""
    waiting = [Requirement(text) for text in requirements]
    seen = set()
    while waiting:
        requirement = waiting.pop()
        for extra in {"", *requirement.extras}:
            if (requirement.name, extra) in seen:
                continue
            seen.add((requirement.name, extra))
            for text in importlib.metadata.requires(requirement.name) or []:
                inner = Requirement(text)
                if inner.marker is None or inner.marker.evaluate({"extra": extra}):
                    waiting.append(inner)
    return {canonicalize_name(name) for name, _ in seen}
