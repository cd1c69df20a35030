"""Options that several commands share, and parsers of their values."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from epochfuzz.harness.cli.environment import completion
from epochfuzz.harness.cli.files import FileKind, check_writable
from epochfuzz.harness.cli.output import BadInput, as_bad_input
from epochfuzz.harness.environment import extras
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary import versions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration, ConfigurationError
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, ProtocolError, parse_protocol
from epochfuzz.strategies.project import project


def protocol_option(*names: str, help: str) -> Any:
    """Return a Typer option for a protocol, with completion by the shell."""
    return typer.Option(*names, autocompletion=completion.protocols, help=help)


Protocols = Annotated[
    list[str],
    protocol_option(
        "--protocol",
        "-p",
        help="A reference design (hw, kip-101 to kip-966), a release of Kafka (kafka-2.6.1), or either with other"
        " mechanisms, such as kip-320:isr_expansion=high_watermark. Repeat the option for several protocols."
        " `epochfuzz explain releases` lists the protocols.",
    ),
]
OwnModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODULE:NAME",
        help="Your own model instead of Kafka's: a module, in this directory or installed, and the model's name."
        " docs/how-to/extend-the-model.md has an example.",
    ),
]
Property = Annotated[
    str, typer.Option("--property", autocompletion=completion.property_names, help="The property to break.")
]
Seed = Annotated[
    int | None, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of the schedules; random if left out.")
]
Certify = Annotated[
    str,
    typer.Option(
        "--certify",
        metavar="DURATION|all|0",
        help="Time to shrink findings and to prove that no schedule is shorter, such as 60s or 5m. all: no limit."
        " 0: no proof.",
    ),
]
CERTIFY = "25s"  # so that the whole command ends within half a minute
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document to stdout, and the rest to stderr.")]
KafkaRelease = Annotated[str, typer.Option("--release", help="The release of Kafka. Maven downloads its jars once.")]
KafkaHome = Annotated[
    Path | None, typer.Option("--kafka-home", help="The directory of an unpacked Kafka, to use instead of --release.")
]
KeepData = Annotated[
    bool,
    typer.Option(
        "--keep-data",
        help="Also keep the brokers' data directories in --out, from before each restart and from the end.",
    ),
]
Corpus = Annotated[Path, typer.Option("--corpus", help="The directory of the corpus.")]


def require_out_for_data(keep_data: bool, out: Path | None) -> None:
    """Raise BadInput if --keep-data is given without --out."""
    if keep_data and out is None:
        raise BadInput("--keep-data needs --out DIR")


def needs(extra: str) -> Callable[[Any], Any]:
    """Return a Typer callback for an option that needs an extra, an optional dependency of epochfuzz.

    The callback raises MissingExtra if the user gives the option and the extra is not installed.
    """

    def check(value: Any) -> Any:
        if value:
            extras.require(extra)
        return value

    return check


def writes(kind: FileKind, extra: str | None = None) -> Callable[..., Path | None]:
    """Return a Typer callback for an option that names a file to write.

    The callback raises BadInput if the file cannot be written, or if another option names this file too. The
    callback raises MissingExtra if `extra`, an optional dependency of epochfuzz, is not installed.
    """

    def check(context: typer.Context, option: typer.CallbackParam, path: Path | None) -> Path | None:
        if path is None:
            return None
        if extra is not None:
            extras.require(extra)
        name = option.opts[0]
        check_writable(name, path, kind)
        other = context.meta.setdefault(_WRITTEN, {}).setdefault(path.resolve(), name)
        if other != name:
            raise BadInput(f"{other} and {name} name the same file, {path}; name two files")
        return path

    return check


Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        callback=writes(FileKind.HTML, "report"),
        help="Write an HTML report, with every finding step by step.",
    ),
]

Sarif = Annotated[
    Path | None,
    typer.Option(
        "--sarif", callback=writes(FileKind.SARIF), help="Write the findings as SARIF 2.1.0, for code scanning."
    ),
]

_WRITTEN = "epochfuzz.files"  # key in a context's `meta`, for the options that name files to write, by file
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h)")
_LONGEST = 3600 * 100_000  # seconds; clocks overflow at longer durations
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600}


def parse_protocols(texts: list[str]) -> list[Protocol]:
    """Return the protocols with the given names, without duplicates. Raises BadInput for an unknown name."""
    with as_bad_input(ProtocolError, "--protocol"):
        return list({text: parse_protocol(text) for text in texts}.values())


def say_what_versions_stand_for(out: Console, protocols: Iterable[Protocol]) -> None:
    """Print the modelled release of each protocol that is given as a version, such as `kafka-3.9.2`."""
    for meaning in dict.fromkeys(versions.meaning(protocol.name) for protocol in protocols):
        if meaning:
            out.print(meaning, markup=False, soft_wrap=True)


def given(context: typer.Context) -> set[str]:
    """Return the names of the options that the user typed. Defaults are left out."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and not source.name.startswith("DEFAULT")}


def given_settings(context: typer.Context) -> dict[str, Any]:
    """Return the model's settings that the user typed: a dictionary from name to value."""
    names = {setting.name for setting in dataclasses.fields(Configuration)}
    return {name: context.params[name] for name in given(context) & names}


def refuse_for_own_model(context: typer.Context, *used: str) -> None:
    """Raise BadInput if the user typed options that have no effect with `--model`.

    Settings of the model and the options in `used` are accepted.
    """
    other = context.params.keys() - {"model", *used, *given_settings(context)}
    refuse_with(context, sorted(other), "--model")


def refuse_with(context: typer.Context, names: Iterable[str], other: str) -> None:
    """Raise BadInput if the user typed an option in `names`, because `other` excludes these options."""
    if dropped := _given_among(context, names):
        raise BadInput(f"{' and '.join(dropped)} can't be combined with {other}")


def refuse_without(context: typer.Context, names: Iterable[str], needed: str) -> None:
    """Raise BadInput if the user typed an option in `names`, because these options need the option `needed`."""
    if dropped := _given_among(context, names):
        raise BadInput(f"{' and '.join(dropped)} {'needs' if len(dropped) == 1 else 'need'} {needed}")


def _given_among(context: typer.Context, names: Iterable[str]) -> list[str]:
    here = given(context)
    return [_option(name.rstrip("_")) for name in names if name in here]


def configured(**defaults: int) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return a decorator that gives a command an option for every setting of the model.

    The command receives the settings as the argument `settings`, a Configuration. `defaults` overrides defaults of
    Configuration. A value outside its range raises BadInput, which names the option. If the command has an argument
    `context`, the decorator puts the parsed values of the other arguments into `context.params`.
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(command)
        def with_settings(**arguments: Any) -> int:
            values = {setting.name: arguments.pop(setting.name) for setting in dataclasses.fields(Configuration)}
            try:
                settings = Configuration(**values)
            except ConfigurationError as error:
                raise BadInput(f"{_option(error.key)}{str(error).removeprefix(error.key)}") from None
            if "context" in arguments:  # its params are not yet parsed to paths and enums
                arguments["context"].params |= {each: arguments[each] for each in arguments if each != "context"}
            return command(settings=settings, **arguments)

        own = [p for p in inspect.signature(command).parameters.values() if p.name != "settings"]
        parameters = [*own, *(_setting(field, defaults) for field in dataclasses.fields(Configuration))]
        with_settings.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
        with_settings.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return with_settings

    return decorate


def _setting(field: "dataclasses.Field[Any]", defaults: dict[str, int]) -> inspect.Parameter:
    kind: Any = type(field.default)
    meaning: str = field.metadata["meaning"]
    if "low" in field.metadata:
        meaning = f"{meaning.removesuffix('.')}, {field.metadata['low']} to {field.metadata['high']}."
    words = f"{_option(field.name)}/{_negation(field.name)}" if kind is bool else _option(field.name)
    annotation = Annotated[kind, typer.Option(words, help=meaning, rich_help_panel="Configuration")]
    default = defaults.get(field.name, field.default)
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def words_of(settings: Configuration) -> list[str]:
    """Return command-line options that select `settings`, whatever defaults the project's pyproject.toml sets."""
    said = settings.changed().keys() | project().config.keys()
    words = []
    for setting in dataclasses.fields(settings):
        value = getattr(settings, setting.name)
        if setting.name in said and isinstance(value, bool):
            words.append(_option(setting.name) if value else _negation(setting.name))
        elif setting.name in said:
            words += [_option(setting.name), str(value)]
    return words


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _negation(key: str) -> str:
    return f"--no-{key.replace('_', '-')}"


def parse_property(name: str) -> int:
    """Return the bit that stands for the named property. Raises BadInput for an unknown name."""
    with as_bad_input(properties.UnknownProperty, "--property"):
        return properties.named(name).bit


def parse_duration(text: str, option: str = "--for", also: str = "") -> float:
    """Return a duration in seconds from a text such as 60s, 5m or 8h.

    Raises BadInput for another text. The error message names the option `option`, and adds `also` to the list of
    permitted forms.
    """
    match = _DURATION.fullmatch(text)
    if match is None or float(match[1]) == 0:
        raise BadInput(f"{option}: a duration is a number and s, m or h, such as 60s or 8h{also}; got {text!r}")
    seconds = float(match[1]) * _UNIT_SECONDS[match[2]]
    if seconds > _LONGEST:
        raise BadInput(f"{option} must be at most {_LONGEST // 3600}h; got {text}")
    return seconds


def parse_certify(text: str) -> float | None:
    """Return the value of --certify, the time for proofs in seconds: 0 for no proofs, None for no limit.

    Raises BadInput.
    """
    if text in ("0", "all"):
        return {"0": 0.0, "all": None}[text]
    return parse_duration(text, "--certify", also=", or 0 or all")
