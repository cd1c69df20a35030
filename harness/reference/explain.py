"""Explain: what each name of the protocol means, why it exists, and a schedule that shows it.

The prose and the schedules are in glossary/, a file for each kind of name. Who has what is not written there: it comes
from the tables of the model, as does what a schedule breaks.
"""

import difflib
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from epochfuzz.harness.findings import goals
from epochfuzz.harness.reference import releases
from epochfuzz.harness.text.yaml_text import parsed
from epochfuzz.model.kafka.contract.properties import PROPERTIES
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, NAMED, OTHER_SYSTEMS, RELEASES, Protocol

# The kinds of names, and the word for several, which is also the name of their file in glossary/.
KINDS = {
    "property": "properties",
    "mechanism": "mechanisms",
    "generation": "generations",
    "release": "releases",
    "event": "events",
    "goal": "goals",
    "word": "words",
    "term": "terms",
}
_UNDECLARED = ("word", "term")  # of no rule: all that there is of them is written

_MOST_SUGGESTIONS = 3


class UnknownName(ValueError):
    """A name that the glossary does not have; the message says which ones are near."""


@dataclass(frozen=True)
class Example:
    """A schedule of event texts that shows what an entry is about.

    If it `breaks` a property, it is a shortest schedule that does so under the protocol `under` and that breaks nothing
    under `beside`. From any other example no event can be left out.
    """

    under: str
    events: tuple[str, ...]
    settings: Configuration
    beside: str | None = None
    breaks: str | None = None


@dataclass(frozen=True)
class GlossaryEntry:
    """What there is to say of a name. A choice of a mechanism, such as `fencing=epoch`, is of the kind mechanism.

    `why` is empty and `example` None where nobody has written of it yet. `also` has other names for the same.
    """

    name: str
    kind: str
    means: str
    why: str
    example: Example | None
    also: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The first sentence of what it means."""
        return self.means.split(". ")[0].removesuffix(".") + "."


@functools.cache
def glossary() -> dict[str, GlossaryEntry]:
    """Every entry by its name, kind after kind, in the order of the vocabulary.

    A name that nobody has written of yet is explained by what its declaration says. Raises LookupError for an entry of
    a name that there is not.
    """
    entries: dict[str, GlossaryEntry] = {}
    for kind, several in KINDS.items():
        text = (files("epochfuzz.harness.reference") / "glossary" / f"{several}.yaml").read_text(encoding="utf-8")
        written = parsed(text)
        declared = dict.fromkeys(written, "") if kind in _UNDECLARED else _declared(kind)
        if unknown := written.keys() - declared.keys():
            raise LookupError(f"glossary/{several}.yaml explains what is not declared: {', '.join(sorted(unknown))}")
        for name, meaning in declared.items():
            entries[name] = _entry(name, kind, **written.get(name, {"means": _sentence(meaning)}))
    return entries


def _declared(kind: str) -> dict[str, str]:
    """Return the names of a kind in the vocabulary, each with what its declaration says of it."""
    match kind:
        case "property":
            return {each.name: f"Broken where {_lower(each.meaning)}" for each in PROPERTIES}
        case "mechanism":
            return {
                name: said
                for mechanism, choices in MECHANISMS.items()
                for name, said in (
                    (mechanism, choices.__doc__ or ""),
                    *((f"{mechanism}={choice.text}", choice.meaning) for choice in choices),
                )
            }
        case "generation":
            return dict.fromkeys(GENERATIONS, "a generation of the protocol")
        case "release":
            others = dict.fromkeys(OTHER_SYSTEMS, "a release of another system that does as Kafka does")
            return dict.fromkeys(RELEASES, "a release of Kafka") | others
        case "event":
            return {verb.text: verb.meaning for verb in Verb}
        case _:
            return {goal.text: f"a schedule showed it: {goal.text}" for goal in Goal}


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".removesuffix(".") + "."


def _lower(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def find(name: str) -> GlossaryEntry:
    """Return the entry of a name, in any case of letters. Raises UnknownName."""
    entries = glossary()
    if name in entries:
        return entries[name]
    for entry in entries.values():
        if name.lower() in map(str.lower, (entry.name, *entry.also)):
            return entry
    names = subjects()
    within = sorted((known for known in names if name in known), key=len)
    near = within or difflib.get_close_matches(name, names)
    if not near:
        raise UnknownName(f"unknown name {name!r}; `epochfuzz explain` lists all there are")
    raise UnknownName(f"unknown name {name!r}; did you mean {' or '.join(map(repr, near[:_MOST_SUGGESTIONS]))}?")


def subjects() -> list[str]:
    """All that can be explained: the names, and after them other names for the same."""
    entries = glossary()
    return [*entries, *(name for entry in entries.values() for name in entry.also)]


def by_generation(entry: GlossaryEntry) -> dict[str, str]:
    """Return what a name stands for in each generation; of a generation or release, the mechanisms it is made of.

    A word or a term means the same in all of them.
    """
    if entry.kind in _UNDECLARED:
        return {}
    if entry.name in NAMED:
        protocol = NAMED[entry.name]
        return {entry.name: ", ".join(f"{mechanism}={protocol.choice(mechanism).text}" for mechanism in MECHANISMS)}
    return {name: _in_generation(entry, generation) for name, generation in GENERATIONS.items()}


def _in_generation(entry: GlossaryEntry, generation: Protocol) -> str:
    if entry.kind == "property":
        row = releases.surveyed()[generation.name]
        how = row.broken.get(entry.name)
        if how is not None:
            return f"may break: {how.causes(generation, entry.name).text}"
        return "must hold" if entry.name in row.judged else "?"
    if entry.kind == "mechanism":
        return generation.choice(entry.name.partition("=")[0]).text
    if entry.kind == "goal":
        asked_for = goals.asked_for(generation, entry.example.settings if entry.example else Configuration())
        return "asked for" if entry.name in asked_for else "counted, not asked for"
    return "has it"


def _entry(
    name: str, kind: str, means: str, why: str = "", example: dict[str, Any] | None = None, also: Sequence[str] = ()
) -> GlossaryEntry:
    return GlossaryEntry(name, kind, means, why, _example(**example) if example else None, tuple(also))


def _example(under: str, events: list[str], config: dict[str, Any] | None = None, **rest: str) -> Example:
    return Example(under, tuple(events), Configuration(**(config or {})), **rest)
