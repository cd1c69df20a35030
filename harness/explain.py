"""Explain: what each name of the protocol means, why it exists, and a schedule that shows it.

The prose and the schedules are in glossary/, a file for each group of names. Who has what is not written there: it
comes from the tables of the model, as does what an example breaks.
"""

import difflib
import functools
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

from harness import goals
from harness.expectations import known_flaw
from model.configuration import Configuration
from model.protocols import GENERATIONS, MECHANISMS, Protocol

GROUPS = ("properties", "mechanisms", "generations", "events", "goals")

_MOST_SUGGESTIONS = 3


class UnknownName(ValueError):
    """A name that the glossary does not have; the message says which ones are near."""


@dataclass(frozen=True)
class Example:
    """A schedule of event texts that shows what an entry is about.

    It breaks the property `breaks`, if one is named, under the protocol `under` and not under `beside`. `shortest`:
    complete search found no shorter schedule that breaks the property. Of any other, no event can be left out.
    """

    under: str
    events: tuple[str, ...]
    settings: Configuration
    beside: str | None = None
    breaks: str | None = None
    shortest: bool = False


@dataclass(frozen=True)
class Entry:
    """What there is to say of a name."""

    name: str
    group: str
    means: str
    why: str
    example: Example

    @property
    def summary(self) -> str:
        """The first sentence."""
        return self.means.split(". ")[0] + "."


@functools.cache
def glossary() -> dict[str, Entry]:
    """Every entry by its name: the groups in the order of GROUPS, the names in the order of the model."""
    entries: dict[str, Entry] = {}
    for group in GROUPS:
        text = (files("harness") / "glossary" / f"{group}.yaml").read_text(encoding="utf-8")
        entries |= {name: _entry(name, group, **parts) for name, parts in yaml.safe_load(text).items()}
    return entries


def find(name: str) -> Entry:
    """The entry of a name. Raises UnknownName."""
    entries = glossary()
    if name in entries:
        return entries[name]
    near = [known for known in entries if name in known] or difflib.get_close_matches(name, entries, _MOST_SUGGESTIONS)
    if not near:
        raise UnknownName(f"unknown name {name!r}; `epochfuzz explain` lists all there are")
    raise UnknownName(f"unknown name {name!r}; did you mean {' or '.join(map(repr, near[:_MOST_SUGGESTIONS]))}?")


def by_generation(entry: Entry) -> dict[str, str]:
    """What an entry is in each generation that has it, by the name of the generation."""
    generations = {
        name: GENERATIONS[name] for name in GENERATIONS if entry.group != "generations" or name == entry.name
    }
    return {name: _in_generation(entry, generation) for name, generation in generations.items()}


def _in_generation(entry: Entry, generation: Protocol) -> str:
    if entry.group == "properties":
        flaw = known_flaw(generation, Configuration(), entry.name)
        return f"may break: {flaw}" if flaw else "must hold"
    if entry.group == "mechanisms":
        return generation.choice(entry.name.partition("=")[0])
    if entry.group == "generations":
        return ", ".join(f"{mechanism}={generation.choice(mechanism)}" for mechanism in MECHANISMS)
    if entry.group == "goals":
        return "asked for" if entry.name in goals.asked_for(generation, entry.example.settings) else "counted"
    return "has it"


def _entry(name: str, group: str, means: str, why: str, example: dict[str, Any]) -> Entry:
    return Entry(name, group, means, why, _example(**example))


def _example(under: str, events: list[str], config: dict[str, Any] | None = None, **rest: Any) -> Example:
    return Example(under, tuple(events), Configuration(**(config or {})), **({"shortest": "breaks" in rest} | rest))
