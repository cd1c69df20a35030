"""The defaults of the user's project: protocols and settings for random schedules, from its pyproject.toml.

    [tool.epochfuzz]
    protocols = ["kip-320"]
    config = {replicas = 3, min_insync_replicas = 2}
    play_url = "https://example.org/play/"

epochfuzz reads the nearest pyproject.toml with this table, in the current directory or above it. A schedule in a case
or a test has its own protocol and settings, so the defaults do not apply to it.
"""

import re
import stat
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from epochfuzz.model.kafka.vocabulary.configuration import Configuration, ConfigurationError
from epochfuzz.model.kafka.vocabulary.names import nearest
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, ProtocolError, parse_protocol

FILE = "pyproject.toml"
_KEYS = ("protocols", "config", "play_url")

_ADDRESS = re.compile(r"https?://[\w.:\[\]-]+(/[\w.~%/+-]*)?", re.ASCII)

_directory: Path | None = None  # the directory where the search starts; None: the current directory


class ProjectError(ValueError):
    """The table `tool.epochfuzz` or its file is not valid; the message names the file and the problem."""


@dataclass(frozen=True)
class Project:
    """The content of the table `tool.epochfuzz`: the protocols, the settings by name, and the playground's address.

    The address is empty if the table has no address.
    """

    protocols: tuple[Protocol, ...] = ()
    config: dict[str, Any] = field(default_factory=dict)
    play_url: str = ""

    @property
    def settings(self) -> Configuration:
        """The configuration with the settings in `config`. All other settings have epochfuzz's defaults."""
        return Configuration(**self.config)


def look_in(directory: Path | None) -> None:
    """Set the directory where the search for pyproject.toml starts; None for the current directory."""
    global _directory
    _directory = directory


def project() -> Project:
    """Return the defaults of the user's project; an empty Project if no file has them. Raises ProjectError."""
    start = (_directory or Path.cwd()).resolve()
    for directory in (start, *start.parents):
        table = _table(directory / FILE)
        if table is not None:
            return _checked(table, directory / FILE)
    return Project()


def _table(path: Path) -> Any:
    """Return the table `tool.epochfuzz` of a file, None if the file or the table does not exist."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would block
            raise ProjectError(f"{path}: cannot be read: it is not a regular file; rename or remove it")
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ProjectError(f"{path}: cannot be read: {error.strerror}; rename or remove it") from None
    except RecursionError:
        raise ProjectError(f"{path}: cannot be read: its values are nested too deeply") from None
    except ProjectError:
        raise
    except ValueError as error:  # of TOML, or of UTF-8
        raise ProjectError(f"{path}: {error}") from None
    tool = content.get("tool")
    return tool.get("epochfuzz") if isinstance(tool, dict) else None


def _checked(table: Any, path: Path) -> Project:
    where = f"{path}: tool.epochfuzz"
    if not isinstance(table, dict):
        raise ProjectError(f"{where}: a table, with the keys {', '.join(_KEYS)}; got {table!r}")
    _refuse_unknown(table, _KEYS, where)
    return Project(
        _protocols(table.get("protocols", []), f"{where}.protocols"),
        _config(table.get("config", {}), f"{where}.config"),
        checked_play_url(table["play_url"], f"{where}.play_url") if "play_url" in table else "",
    )


def checked_play_url(given: Any, where: str) -> str:
    """Return `given` if it is a valid address of a playground. Otherwise raise ProjectError.

    The error message begins with `where`.
    """
    if not isinstance(given, str) or not _ADDRESS.fullmatch(given):
        raise ProjectError(f"{where}: an address such as https://example.org/play/, without ? or #; got {given!r}")
    return given


def _protocols(given: Any, where: str) -> tuple[Protocol, ...]:
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise ProjectError(f'{where}: a list of protocols, such as ["kip-320"]; got {given!r}')
    try:
        return tuple(dict.fromkeys(map(parse_protocol, given)))
    except ProtocolError as error:
        raise ProjectError(f"{where}: {error}") from None


def _config(given: Any, where: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ProjectError(f"{where}: a table of settings, such as {{replicas = 3}}; got {given!r}")
    _refuse_unknown(given, [setting.name for setting in fields(Configuration)], where)
    config: dict[str, Any] = {
        key: str(value) if key == "acks" else value for key, value in given.items()
    }  # acks = 1 is a number
    try:
        Configuration(**config)
    except ConfigurationError as error:
        raise ProjectError(f"{where}.{error.key}: {error}") from None
    return config


def _refuse_unknown(table: dict[str, Any], known: Any, where: str) -> None:
    for key in table.keys() - set(known):
        raise ProjectError(f"{where}.{key}: unknown key; {nearest(key, known, 'the keys are')}")
