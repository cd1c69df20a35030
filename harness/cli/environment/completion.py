"""Completion by the shell: functions that return candidates for the word that the user is typing.

The shell drops the candidates that don't fit.
"""

import typer

from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import NAMED, choice_texts


def protocols(incomplete: str) -> list[str]:
    """Return candidates for a protocol: a name, or after a colon a choice for a mechanism (`hw:fencing=none`)."""
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
    """Return candidates for the argument of `explain`.

    If the user has typed the first words of a name, each candidate has only the remaining words.
    """
    from epochfuzz.harness.cases import bundled
    from epochfuzz.harness.reference import explain

    begun = "".join(f"{word} " for word in ctx.params.get("name") or ())
    return [
        name.removeprefix(begun)
        for name in (*explain.subjects(), *bundled.files(), "releases")
        if name.startswith(begun)
    ]
