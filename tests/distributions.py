"""What pyproject.toml asks pip for, and what that comes to here."""

import importlib.metadata
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def project_table() -> dict[str, Any]:
    """The table `project` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def required_by_extras(*extras: str) -> list[str]:
    """What extras require, but for other extras of ours."""
    project = project_table()
    texts = [text for extra in extras for text in project["optional-dependencies"][extra]]
    return [text for text in texts if Requirement(text).name != project["name"]]


def distributions_needed(requirements: Iterable[str]) -> set[str]:
    """The distributions that requirements need in this environment, directly or not."""
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
