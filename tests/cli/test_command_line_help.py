"""Help and completion: every command shows how it is used, in the order of the documentation."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from epochfuzz.harness.cli.main import app

COMMAND = typer.main.get_command(app)


def commands(command=COMMAND, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name in command.list_commands(None) if hasattr(command, "commands") else ():
        inner = command.get_command(None, name)
        yield (*path, name), inner
        yield from commands(inner, (*path, name))


COMMANDS = dict(commands())


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_help_of_every_command_has_an_example_with_valid_options(path):
    name = " ".join(("epochfuzz", *path))
    examples = [part for part in COMMANDS[path].help.split("`") if name in part]
    assert examples
    for example in examples:
        words = shlex.split(example.partition(" | ")[2] or re.split(r" > | -- ", example)[0])
        assert words[0] == "epochfuzz"
        used = {word for word in words if word.startswith("--")}
        if not hasattr(COMMANDS[path], "commands"):
            options = [(*parameter.opts, *parameter.secondary_opts) for parameter in COMMANDS[path].params]
            assert used <= {option for several in options for option in several}


@pytest.mark.parametrize(
    "path", [path for path in COMMANDS if path not in (("campaign",), ("cluster",), ("corpus",))], ids=" ".join
)
def test_every_command_has_the_option_json(path):
    assert any("--json" in parameter.opts for parameter in COMMANDS[path].params)


def test_help_lists_the_commands_in_the_order_of_the_documentation():
    listed = CliRunner().invoke(app, ["--help"]).output
    places = [listed.index(f"│ {name} ") for name in ("conform", "fuzz", "campaign", "replay", "explain", "selftest")]
    assert places == sorted(places)


def test_help_lists_commands_for_user_systems_for_models_and_for_cases_in_separate_groups():
    listed = CliRunner().invoke(app, ["--help"]).output
    _, yours, model, cases, _ = re.split(r"─ (?:Test something|Test a protocol|Look at cases|See how)", listed)
    assert [name in yours for name in ("│ conform ", "│ cluster ", "│ audit ")] == [True] * 3
    assert [name in model for name in ("│ fuzz ", "│ explore ", "│ campaign ")] == [True] * 3
    assert "│ replay " in cases


def completions(words):
    """Return the completions that a shell offers for the last word."""
    *_, current = words.split(" ")
    environment = {
        "_EPOCHFUZZ_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - bool(current)),
    }
    printed = CliRunner().invoke(app, [], prog_name="epochfuzz", env=environment).output
    return list(filter(None, printed.splitlines()))


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("epochfuzz re", ["replay", "report"]),
        ("epochfuzz fuzz --protocol kip-3", ["kip-320"]),
        ("epochfuzz fuzz --protocol kafka-2.0", ["kafka-2.0.0", "kafka-2.0.1"]),
        ("epochfuzz fuzz -p hw:fenc", ["hw:fencing=none", "hw:fencing=epoch"]),
        ("epochfuzz fuzz -p hw:fencing=none,fenc", []),
        ("epochfuzz fuzz -p hw:fencing=none,registration=", [
            "hw:fencing=none,registration=resume", "hw:fencing=none,registration=fenced",
        ]),
        ("epochfuzz explore --property no-c", ["no-committed-loss"]),
        ("epochfuzz shrink --property conv", ["convergence"]),
        ("epochfuzz explain conv", ["convergence"]),
        ("epochfuzz explain ISR s", ["shrank"]),
        ("epochfuzz explain high watermark w", ["went back", "waited"]),
        ("epochfuzz explain fencing=", ["fencing=none", "fencing=epoch"]),
        ("epochfuzz explain rele", ["release", "release matrix", "releases"]),
        ("epochfuzz conform --judge p", ["promises"]),
    ],
)  # fmt: skip
def test_a_shell_completes_names(words, completed):
    assert completions(words) == completed


PROTOCOLS = {"--protocol", "--breaks", "--holds", "--ablate"}
OPTIONS = [
    (path, option)
    for path, command in COMMANDS.items()
    for parameter in command.params
    for option in PROTOCOLS.intersection(parameter.opts)
]


@pytest.mark.parametrize(
    ("path", "option"), OPTIONS, ids=lambda part: part if isinstance(part, str) else " ".join(part)
)
def test_a_shell_completes_protocols_for_every_option_that_takes_a_protocol(path, option):
    assert completions(" ".join(("epochfuzz", *path, option, "kafka-2.6"))) == ["kafka-2.6.0", "kafka-2.6.1"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["replya"], "Did you mean 'replay'"),
        (["campaign", "resum"], "Did you mean 'resume'"),
        (["replay", "--protocl", "hw", "x"], "--protocol"),
    ],
)
def test_a_mistyped_command_or_option_gets_a_suggestion(arguments, said):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.parametrize("path", [(), *COMMANDS], ids=lambda path: " ".join(("epochfuzz", *path)))
def test_help_shows_flags_without_a_type(path):
    shown = CliRunner().invoke(app, [*path, "--help"]).output
    assert "--help" in shown
    assert "<bool>" not in shown


def test_importing_the_command_line_loads_neither_numba_nor_hypothesis_nor_spark():
    code = "import sys, epochfuzz.harness.cli.main; print({'hypothesis', 'numba', 'pyspark'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"


def test_the_option_version_loads_neither_numpy_nor_numba_nor_yaml_nor_hypothesis():
    asked = (
        "import sys\nfrom epochfuzz.harness.cli.main import main\nsys.argv[1:] = ['--version']\ntry: main()\nfinally: "
    )
    told = "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    ended = subprocess.run([sys.executable, "-c", asked + told], capture_output=True, text=True, check=True)
    assert {"numpy", "numba", "yaml", "hypothesis"}.isdisjoint(ended.stdout.split())
