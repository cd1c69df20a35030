"""Take defaults for a command's options from `[tool.epochfuzz]` in the project's pyproject.toml."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.strategies.project import project

_SETTINGS = {setting.name for setting in fields(Configuration)}


def defaults_for(parameters: Sequence[Any]) -> dict[str, Any]:
    """Return the project's defaults for a command's parameters, by option name. Raises ProjectError.

    `--protocol` gets a default only in commands that cannot run without a protocol. If a command takes a single
    protocol, `--protocol` gets a default only if the project names exactly one protocol.
    """
    named = {each.name: each for each in parameters if each.name in _SETTINGS or _is_needed_protocol(each)}
    if not named:
        return {}
    here = project()
    defaults = {key: value for key, value in here.config.items() if key in named}
    names = [each.name for each in here.protocols]
    if "protocol" in named and names and named["protocol"].multiple:
        defaults["protocol"] = names
    elif "protocol" in named and len(names) == 1:
        defaults["protocol"] = names[0]
    return defaults


def _is_needed_protocol(parameter: Any) -> bool:
    return parameter.name == "protocol" and (parameter.required or parameter.default is not None)
