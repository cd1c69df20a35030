"""Completion: return the possible continuations of a word. The shell drops those that don't fit the word."""

import typer

from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import NAMED, choice_texts


def protocols(incomplete: str) -> list[str]:
    """Return reference designs and releases; after the colon, the choices of the mechanisms not replaced yet."""
    name, colon, replaced = incomplete.partition(":")
    if not colon:
        return list(NAMED)
    done = replaced.split(",")[:-1]
    taken = {choice.partition("=")[0] for choice in done}
    return [
        f"{name}:{','.join([*done, f'{mechanism}={choice}'])}"
        for mechanism in MECHANISMS
        if mechanism not in taken
        for choice in choice_texts(mechanism)
    ]


def property_names() -> list[str]:
    """Return the names of the properties."""
    return list(properties.NAMES)


def subjects(ctx: typer.Context) -> list[str]:
    """Return the names that `explain` knows. For a name of several words, return the rest after the given words."""
    from epochfuzz.harness.cases import bundled
    from epochfuzz.harness.reference import explain

    begun = "".join(f"{word} " for word in ctx.params.get("name") or ())
    return [
        name.removeprefix(begun) for name in (*explain.subjects(), *bundled.ids(), "releases") if name.startswith(begun)
    ]
