"""What `[tool.epochfuzz]` of a project's pyproject.toml says, as the defaults of a command's options."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.strategies.project import project

_SETTINGS = {setting.name for setting in fields(Configuration)}


def defaults_for(parameters: Sequence[Any]) -> dict[str, Any]:
    """By the name of an option, what is taken where it is left out. Raises ProjectError.

    `--protocol` has such a default where a command cannot do without one: where it may be left out, cases say it.
    An option for one protocol has it if the project has one.
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
