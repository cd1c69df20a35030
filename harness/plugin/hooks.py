"""The pytest plugin: collect case files as tests, one for each case and protocol.

pytest loads the plugin in every project whose environment contains epochfuzz. The plugin therefore costs no time until
a case is collected. The first case imports cases.py, which replays cases.
"""

import re
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from epochfuzz.harness.plugin.cases import CaseFile

SAVED = "epochfuzz-cases"
HYPOTHESIS_PROFILES = ("dev", "ci", "nightly")

_MACHINES = {"epochfuzz.strategies.machine", "epochfuzz.harness.conform.run.machine"}
_KEYS_OF_A_CASE = {"schema", "id", "events"}
_SCHEMA = "1"
_BEGINNING = 1 << 16  # characters to read, enough for all keys of a case; third-party YAML may be of any size


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini-file settings and the command-line options of epochfuzz."""
    parser.addini(
        "epochfuzz_corpus",
        "directories below the rootdir whose *.yaml files are epochfuzz cases; they are collected along with testpaths",
        type="args",
        default=[],
    )
    parser.addini(
        "epochfuzz_subject",
        "the command of an adapter (docs/how-to/test-your-broker.md); each case is then replayed on it too",
        type="args",
        default=[],
    )
    parser.addini(
        "epochfuzz_client",
        "the command of a client's adapter (docs/how-to/test-your-client.md); each case is then run on the client too",
        type="args",
        default=[],
    )
    group = parser.getgroup("epochfuzz", "replaying epochfuzz cases")
    group.addoption(
        "--epochfuzz-protocol",
        action="append",
        default=[],
        metavar="PROTOCOL",
        help="replay cases under this protocol instead of the protocols in them; may be repeated",
    )
    group.addoption(
        "--epochfuzz-rewrite",
        action="store_true",
        help="rewrite the expectations in the case files with the results",
    )
    group.addoption(
        "--epochfuzz-save",
        action="store_true",
        help=f"save the case of each failure of a state machine or a conformance test in {SAVED}/ below the rootdir",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Register epochfuzz's Hypothesis profiles if `--hypothesis-profile` names such a profile.

    Conftest files are loaded later, so a project's own profile of that name takes precedence.
    """
    if getattr(early_config.known_args_namespace, "hypothesis_profile", None) in HYPOTHESIS_PROFILES:
        from epochfuzz.strategies import profiles

        profiles.register()


def pytest_configure(config: pytest.Config) -> None:
    """Reject invalid options, and add the corpus to the collection if pytest is called without paths."""
    _read_project(config)
    protocols(config)
    _require_client(config)
    corpus = _corpus(config)
    for directory in corpus:
        if not directory.is_dir():
            raise pytest.UsageError(f"epochfuzz_corpus: there is no directory {directory}; name one that exists")
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        collected = [config.invocation_params.dir / argument for argument in config.args]
        config.args += [str(path) for path in corpus if not any(path.is_relative_to(other) for other in collected)]


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the adapter's process, and forget the rootdir, so that later code in this process ignores it."""
    from epochfuzz.strategies.project import look_in

    look_in(None)
    for name in ("on_subject", "on_client"):
        module = sys.modules.get(f"epochfuzz.harness.plugin.{name}")
        if module is not None:
            module.close(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "CaseFile | None":
    """Collect a *.yaml file as a case if it is in the corpus or looks like a case.

    If a corpus is configured, a file outside the corpus is collected only if the command line names the file.
    """
    if file_path.suffix != ".yaml":
        return None
    corpus = _corpus(parent.config)
    if not any(file_path.is_relative_to(directory) for directory in corpus):
        is_for_others = corpus and not parent.session.isinitpath(file_path)
        if is_for_others or not _looks_like_a_case(file_path):
            return None
    from epochfuzz.harness.plugin.cases import CaseFile

    return CaseFile.from_parent(parent, path=file_path)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give each state machine a key of its own in Hypothesis's database, so that tests do not share saved failures."""
    if not _MACHINES.isdisjoint(sys.modules):
        from epochfuzz.strategies.private_hypothesis import machine_of, set_key

        machine = machine_of(getattr(item, "cls", None))
        key = getattr(machine, "database_key", None)
        if key is not None:
            set_key(machine, f"{item.nodeid} {key}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add a timeline and a case to the report of a failed state machine."""
    report = yield
    add_section = getattr(report.longrepr, "addsection", None)  # a report of a single line has no sections
    if call.excinfo is not None and add_section is not None and not _MACHINES.isdisjoint(sys.modules):
        from epochfuzz.harness.plugin.failures import sections

        directory = item.config.rootpath / SAVED if item.config.getoption("epochfuzz_save") else None
        for title, text in sections(call.excinfo.value, directory):
            add_section(f"epochfuzz: {title}", text, sep="-")
    return report


def protocols(config: pytest.Config) -> list[str]:
    """Return the names of the protocols on the command line, without duplicates. Raises UsageError for a bad name."""
    texts = config.getoption("epochfuzz_protocol")
    if not texts:
        return []
    from epochfuzz.model.kafka.vocabulary.protocols import ProtocolError, parse_protocol

    try:
        return list({parse_protocol(text).name: None for text in texts})
    except ProtocolError as error:
        raise pytest.UsageError(f"--epochfuzz-protocol: {error}") from None


def _read_project(config: pytest.Config) -> None:
    """Read and check epochfuzz's defaults in the project, searching from pytest's rootdir. Raises UsageError."""
    from epochfuzz.harness.links.play_link import address_in_environment
    from epochfuzz.strategies.project import ProjectError, look_in, project

    look_in(config.rootpath)
    try:
        project()
        address_in_environment()
    except ProjectError as error:
        raise pytest.UsageError(str(error)) from None


def _require_client(config: pytest.Config) -> None:
    """Raise UsageError if the ini file names a client, and the extra `client` is not installed."""
    if config.getini("epochfuzz_client"):
        from epochfuzz.harness.environment.extras import MissingExtra, require

        try:
            require("client")
        except MissingExtra as missing:
            raise pytest.UsageError(f"epochfuzz_client: {missing}") from None


def _corpus(config: pytest.Config) -> list[Path]:
    """Return the directories that `epochfuzz_corpus` names in the ini file. Raises UsageError for a nested list.

    If the ini file names a client and no corpus, return the directory of the installed cases for clients.
    """
    directories = config.getini("epochfuzz_corpus")
    if not directories and config.getini("epochfuzz_client"):
        from epochfuzz.harness.cases.bundled import FOR_CLIENTS

        return [FOR_CLIENTS]
    for directory in directories:
        if not isinstance(directory, str):  # TOML allows nested lists
            raise pytest.UsageError(f"epochfuzz_corpus: a list of directories, each of them a text; got {directory!r}")
    return [config.rootpath / directory for directory in directories]


def _looks_like_a_case(path: Path) -> bool:
    """Return whether a file has the keys of a case, the schema number of cases, and at least one event of epochfuzz."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            beginning = file.read(_BEGINNING)
    except OSError:
        return False
    keys = dict(re.findall(r"^(\w+):[ \t]*(.*?)[ \t]*(?:#.*)?$", beginning, re.MULTILINE))
    return keys.keys() >= _KEYS_OF_A_CASE and keys["schema"] == _SCHEMA and _has_an_event(beginning)


def _has_an_event(text: str) -> bool:
    """Return whether YAML text lists an event such as `fetch B`."""
    from epochfuzz.model.kafka.vocabulary.events import VERBS

    found = re.findall(r"""(?:^|[\[,-])\s*["']?([a-z_]+) [A-E]["']?\s*(?=[\],#]|$)""", text, re.MULTILINE)
    return not set(VERBS).isdisjoint(found)
