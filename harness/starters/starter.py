"""Write the files of a starter: an adapter in one language, with simple stand-ins for the user's log and replica.

A starter supports a subset of the events of kip-320. The templates leave out the code for the other events.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable

from jinja2 import Environment, FunctionLoader, StrictUndefined

from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb
from epochfuzz.model.kafka.vocabulary.names import nearest
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.state import initial

PROTOCOL = "kip-320"
FIRST = (Verb.PRODUCE, Verb.FETCH, Verb.RECEIVE)  # without these, no record reaches a follower
_WITHOUT_DECISIONS = {*FIRST, Verb.DROP, Verb.CRASH}
_SUFFIX = ".jinja"
_COMMON = "every"  # the folder of the templates that all languages share


class Language(StrEnum):
    """The programming languages of the starters (adapters to fill in) that epochfuzz can write."""

    GO = "go"
    RUST = "rust"
    JAVA = "java"
    PYTHON = "python"


@dataclass(frozen=True)
class Commands:
    """The commands to build, test and run a starter (an adapter to fill in), for a shell in the starter's directory.

    `build` is empty if nothing has to be built.
    """

    build: str
    test: str
    adapter: str
    options: str = ""  # further options of `epochfuzz conform`

    @property
    def conform(self) -> str:
        """The command that compares the adapter with the model."""
        return f"epochfuzz conform --protocol {PROTOCOL} --schedules 100 {self.options}-- {self.adapter}"


COMMANDS = {
    Language.GO: Commands("go build -o adapter .", "go test -count=1 ./...", "./adapter"),
    Language.RUST: Commands("cargo build --release", "cargo test --release", "target/release/adapter"),
    Language.JAVA: Commands(
        "mvn --quiet -DskipTests package",
        "mvn --quiet verify",
        "java -cp target/classes Adapter",
        "--processes-for 2000 ",  # a JVM starts slowly
    ),
    Language.PYTHON: Commands("", "pytest", "python adapter.py"),
}

# The files with the stand-ins, which the user replaces with a log and a replica.
STAND_INS = {
    Language.GO: ("log.go", "replica.go"),
    Language.RUST: ("src/log.rs", "src/replica.rs"),
    Language.JAVA: ("src/main/java/Log.java", "src/main/java/Replica.java"),
    Language.PYTHON: ("log.py", "replica.py"),
}


class UnknownEvent(ValueError):
    """A text that does not name an event of a starter (an adapter to fill in). The message lists the events."""


def possible() -> list[Verb]:
    """Return the events that a starter (an adapter to fill in) can support, in the order of Verb.

    These are the events that PROTOCOL can enable with the default settings.
    """
    start = initial(parse_protocol(PROTOCOL), Configuration())
    return [verb for verb in Verb if verb.possible(start)]


def parse_events(text: str) -> tuple[Verb, ...]:
    """Return the events that a text such as `drop, crash` names, in the order of Verb.

    The result always contains the events in FIRST, without which no record reaches a follower. The text `all` stands
    for every event that a starter (an adapter to fill in) can support. Raises UnknownEvent.
    """
    known = {verb.text: verb for verb in possible()}
    names = text.replace(",", " ").split()
    if names == ["all"]:
        return tuple(known.values())
    for name in names:
        if name not in known:
            raise UnknownEvent(f"a starter has no event {name!r}; {nearest(name, list(known), 'its events are')}")
    return tuple(verb for verb in possible() if verb in FIRST or verb.text in names)


@dataclass(frozen=True)
class Starter:
    """A template of an adapter: its programming language, and the events that it implements, in the order of Verb."""

    language: Language
    verbs: tuple[Verb, ...]

    @property
    def events(self) -> list[str]:
        """The names of the events that the adapter implements."""
        return [verb.text for verb in self.verbs]

    @property
    def commands(self) -> Commands:
        """The commands to build, test and run the adapter."""
        return COMMANDS[self.language]

    @property
    def steps(self) -> list[str]:
        """The next three steps for the user, as sentences in Markdown."""
        log, replica = STAND_INS[self.language]
        return [
            f"Call your log in `{log}`, and run `conform` again. Then call the rest of your code in `{replica}`.",
            "Break your code once, such as by a fetch from one offset too far. The next run must show a difference.",
            self._last_step(),
        ]

    def _last_step(self) -> str:
        others = [verb.text for verb in possible() if verb not in self.verbs]
        if not others:
            return "Run with `--replicas 3`, then with `--exhaustive --refused`, and let CI repeat it."
        code = f"epochfuzz new-adapter --language {self.language} --events {others[0]} other-directory"
        return (
            "Add the event that the last lines of the run name, and run `conform` again. For the code of an event,"
            f" write another starter: `{code}`."
        )

    def files(self) -> dict[str, str]:
        """Return the text of each file, by its path below the starter's directory."""
        templates = files(__package__) / "templates"
        environment = Environment(
            loader=FunctionLoader(lambda name: templates.joinpath(name).read_text(encoding="utf-8")),
            undefined=StrictUndefined,
            keep_trailing_newline=True,
            trim_blocks=True,
            block_start_string="<%",
            block_end_string="%>",
            variable_start_string="<<<",
            variable_end_string=">>>",
        )
        values = {
            "events": self.events,
            "quoted": ", ".join(f'"{event}"' for event in self.events),
            "full": not _WITHOUT_DECISIONS.issuperset(self.verbs),
            "language": self.language,
            "commands": self.commands,
            "protocol": PROTOCOL,
            "steps": self.steps,
        }
        return {
            path: environment.get_template(f"{folder}/{path}{_SUFFIX}").render(values)
            for folder in (_COMMON, self.language)
            for path in sorted(_paths(templates / folder))
        }


def _paths(folder: Traversable, above: str = "") -> Iterator[str]:
    """Yield the paths of the templates in a folder, without the suffix `.jinja`. Each path begins with `above`."""
    for each in folder.iterdir():
        if each.is_dir():
            yield from _paths(each, f"{above}{each.name}/")
        else:
            yield f"{above}{each.name.removesuffix(_SUFFIX)}"
