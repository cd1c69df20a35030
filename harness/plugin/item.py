"""The base class of tests that run a case under one protocol. A failed test shows a text instead of a traceback."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from epochfuzz.harness.cases.case import Case

_T = TypeVar("_T")


class CaseFailed(Exception):
    """A case has another result than it should have. The message lists the differences."""


class CaseTest(pytest.Item):
    """A test that runs a case under one protocol."""

    def __init__(self, *, case: Case, protocol: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case
        self.protocol = protocol

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of a failure: the message of CaseFailed. Errors of epochfuzz itself get a traceback."""
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the location that pytest reports: the case file, None for the line, and the name of the item."""
        return self.path, None, self.name

    @property
    def path_from_root(self) -> str:
        """The path of the case file, relative to the rootdir."""
        return os.path.relpath(self.path, self.config.rootpath)

    def command_line(self, *words: str) -> str:
        """Return the command that repeats the replay outside pytest, in the rootdir. It ends with `words`."""
        return shlex.join(["epochfuzz", "replay", self.path_from_root, "--protocol", self.protocol, *words])


def shared(config: pytest.Config, key: pytest.StashKey[_T], make: Callable[[], _T]) -> _T:
    """Return the object that all items of this pytest process share. `make` creates it on first use."""
    if key not in config.stash:
        config.stash[key] = make()
    return config.stash[key]
