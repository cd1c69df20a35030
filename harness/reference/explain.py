"""Explain a name of the model, such as `fencing` or `no-divergence`: its meaning, its reason, and an example schedule.

The folder glossary/ contains the texts and the schedules, in one file for each kind of name. The tables of the model
provide the mechanisms of each protocol, and the properties that a schedule breaks.
"""

import difflib
import functools
import re
from collections.abc import Iterable, Sequence
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
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS, Choice
from epochfuzz.model.kafka.vocabulary.protocols import (
    GENERATIONS,
    NAMED,
    OTHER_SYSTEMS,
    RELEASES,
    Protocol,
    mechanism_of,
    parse_protocol,
)

# The kinds of names, each with its plural, which is also the name of a file in glossary/.
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
_UNDECLARED = ("word", "term")  # kinds without a declaration in the model: the glossary alone defines them

_MOST_SUGGESTIONS = 3
_SPELLED_ALIKE = 0.75  # difflib's ratio, at most 1; with a lower value, "data loss" and "decision" would be similar


class UnknownName(ValueError):
    """The glossary has no entry for a name. The message lists similar names."""


@dataclass(frozen=True)
class Example:
    """A schedule of event texts that shows the meaning of a name.

    If `breaks` names a property, the schedule is a shortest one that breaks this property under the protocol `under`.
    The schedule breaks nothing under the protocol `beside`, unless `beside` is None.
    """

    under: str
    events: tuple[str, ...]
    settings: Configuration
    beside: str | None = None
    breaks: str | None = None


@dataclass(frozen=True, kw_only=True)
class GlossaryEntry:
    """The explanation of a name. `means` is the meaning, `why` gives reasons and background, and `also` lists synonyms.

    A mechanism and its choices, such as `fencing=epoch`, have the kind `mechanism`. A name without a text in the
    glossary has an empty `why`, and no example.
    """

    name: str
    kind: str
    means: str
    why: str
    example: Example | None
    also: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """Return the first sentence of the meaning."""
        return first_sentence(self.means)


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    return text.split(". ")[0].strip().removesuffix(".") + "."


@functools.cache
def glossary() -> dict[str, GlossaryEntry]:
    """Return the entries of all names, by name. The kinds come in the order of KINDS.

    A name without a text in the glossary has the meaning that the model declares. Raises LookupError if the
    glossary explains a name that the model does not declare.
    """
    entries: dict[str, GlossaryEntry] = {}
    for kind, several in KINDS.items():
        text = (files("epochfuzz.harness.reference") / "glossary" / f"{several}.yaml").read_text(encoding="utf-8")
        written = parsed(text)
        declared = dict.fromkeys(written, "") if kind in _UNDECLARED else _declared(kind)
        if unknown := written.keys() - declared.keys():
            raise LookupError(f"glossary/{several}.yaml explains undeclared names: {', '.join(sorted(unknown))}")
        for name, meaning in declared.items():
            entries[name] = _entry(name, kind, **written.get(name, {"means": _sentence(meaning)}))
    return entries


def breaking_example(choice: Choice) -> Example | None:
    """Return the example of a choice if the example breaks a property under a protocol with this choice, else None."""
    mechanism = mechanism_of(choice)
    example = glossary()[f"{mechanism}={choice.text}"].example
    if example is None or example.breaks is None:
        return None
    return example if parse_protocol(example.under).choice(mechanism) == choice else None


def _declared(kind: str) -> dict[str, str]:
    """Return the names of a kind that the model declares, each with the meaning in its declaration."""
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
            return dict.fromkeys(GENERATIONS, "a reference design")
        case "release":
            others = dict.fromkeys(OTHER_SYSTEMS, "a release of another system that replicates as Kafka does")
            return dict.fromkeys(RELEASES, "a release of Kafka") | others
        case "event":
            return {verb.text: verb.meaning for verb in Verb}
        case _:
            return {goal.text: f"a schedule showed it: {goal.text}" for goal in Goal}


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".removesuffix(".") + "."


def _lower(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def find(name: str, others: Iterable[str] = ()) -> GlossaryEntry:
    """Return the entry of a name or a synonym, ignoring case.

    Raises UnknownName, whose message suggests similar names. The message may also suggest names from `others`.
    """
    known = synonym(name)
    if known is not None:
        return glossary()[known]
    near = _near(name, [*subjects(), *others])
    if not near:
        raise UnknownName(f"unknown name {name!r}; `epochfuzz explain` lists all names")
    raise UnknownName(f"unknown name {name!r}; did you mean {' or '.join(map(repr, near[:_MOST_SUGGESTIONS]))}?")


def synonym(name: str) -> str | None:
    """Return the name of the entry for a name or a synonym, ignoring case and hyphens. None if there is no entry."""
    if name in glossary():
        return name
    wanted = _plain(name)
    return next((e.name for e in glossary().values() if wanted in map(_plain, (e.name, *e.also))), None)


def _plain(name: str) -> str:
    return " ".join(_words(name))


def _words(name: str) -> list[str]:
    return re.split(r"[^a-z0-9.]+", name.lower())


def _near(name: str, known: Sequence[str]) -> list[str]:
    """Return known names to suggest for a misspelt name.

    These are the names that contain all words of the misspelt name, the shortest first. If there are none, the function
    returns names with a similar spelling.
    """
    words = set(_words(name))
    having = sorted((each for each in known if words <= set(_words(each))), key=len)
    if having:
        return having
    spelled = {each.lower(): each for each in reversed(known)}
    return [spelled[each] for each in difflib.get_close_matches(name.lower(), spelled, cutoff=_SPELLED_ALIKE)]


def subjects() -> list[str]:
    """Return all names that have an entry, and then their synonyms."""
    entries = glossary()
    return [*entries, *(name for entry in entries.values() for name in entry.also)]


def by_generation(entry: GlossaryEntry) -> dict[str, str]:
    """Return a remark on a name for each reference design, such as `must hold` for a property under `kip-320`.

    For the name of a protocol, the result has only this protocol, with its choice for each mechanism. For a word or a
    term, the result is empty.
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
        return "required" if entry.name in asked_for else "optional"
    return "has it"


def _entry(
    name: str, kind: str, means: str, why: str = "", example: dict[str, Any] | None = None, also: Sequence[str] = ()
) -> GlossaryEntry:
    return GlossaryEntry(
        name=name, kind=kind, means=means, why=why, example=_example(**example) if example else None, also=tuple(also)
    )


def _example(under: str, events: list[str], config: dict[str, Any] | None = None, **rest: str) -> Example:
    return Example(under, tuple(events), Configuration(**(config or {})), **rest)
