"""The tests use the Hypothesis profile `ci`, and with `--check` fewer examples; `--hypothesis-profile` names another.

`--check` is for every save: what compiles a kernel or starts a process is skipped as soon as it does. So no list says
which tests those are.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from xdist.scheduler.loadscope import LoadScopeScheduling

from epochfuzz.harness.cli import main as cli
from epochfuzz.harness.engine.runtime import compilation
from epochfuzz.strategies import profiles
from tests.printed import check_json

profiles.register()
settings.register_profile("check", settings.get_profile("ci"), max_examples=20)
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--check", action="store_true", help="skip what compiles kernels or starts processes")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a shell's background; what tests start would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGQUIT) is signal.SIG_IGN:  # likewise
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    if config.getoption("--check"):
        if config.getoption("numprocesses", default=None):
            raise pytest.UsageError("--check is for one process: leave out -n")
        settings.load_profile("check")
        setattr(compilation, "_program", _refusing("compiles"))  # noqa: B010 - which nobody else may
        setattr(subprocess.Popen, "__init__", _refusing("starts a process"))  # noqa: B010


def _refusing(what: str) -> Callable[..., None]:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise pytest.skip.Exception(f"{what}: for `make test`", allow_module_level=True)

    return refuse


class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """In parallel, a file's tests stay together for what they share, and those on Spark for their session.

    With pytest 9.2 the groups of `--dist loadgroup` are lost: xdist 3.8 puts them into an id that is a string no more.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = Path(nodeid.partition("::")[0])
        return "spark" if "campaign" in file.parts or file.name == "test_spark.py" else str(file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One Spark session for all tests that need one."""
    from epochfuzz.harness.campaign.spark import session

    with session.opened("local[2]") as spark:
        yield spark


class Ended(NamedTuple):
    """How the command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


@pytest.fixture
def epochfuzz(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Runs `epochfuzz` in this process; its JSON is as its schema says."""

    def run(*words: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["epochfuzz", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        done = Ended(int(ended.value.code or 0), *capfd.readouterr())
        check_json(words, done.out)
        return done

    return run
