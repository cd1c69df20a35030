"""The tests use the Hypothesis profile `ci`, and with `--check` fewer examples; `--hypothesis-profile` names another.

`--check` is for every save: a test is skipped as soon as it compiles a kernel or starts a process. So there is no
list of these tests.
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
settings.register_profile("check", settings.get_profile("ci"), max_examples=10)
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--check", action="store_true", help="skip tests that compile kernels or start processes")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a shell's background; child processes would inherit it
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
    """In parallel, keep the tests of a file together for their fixtures, and tests on Spark for their session.

    The tests of the site stay together too, so that one process builds the site.

    With pytest 9.2 the groups of `--dist loadgroup` are lost: xdist 3.8 puts them into an id that is not a string.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = Path(nodeid.partition("::")[0])
        if file.name == "test_site.py":
            return "site"
        return "spark" if "campaign" in file.parts or file.name == "test_spark.py" else str(file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Yield one Spark session for all tests on Spark."""
    from epochfuzz.harness.campaign.spark import session

    with session.opened("local[2]") as spark:
        yield spark


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the documentation as pages, once. Returns the directory."""
    directory = tmp_path_factory.mktemp("site")
    config = Path(__file__).parents[1] / ".ci" / "site" / "mkdocs.yml"
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(config), "--site-dir", str(directory)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return directory


class Ended(NamedTuple):
    """The exit code of the command, and its output."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


@pytest.fixture
def epochfuzz(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Return a function that runs `epochfuzz` in this process, and checks its JSON against the schema."""

    def run(*words: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["epochfuzz", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        done = Ended(int(ended.value.code or 0), *capfd.readouterr())
        check_json(words, done.out)
        return done

    return run
