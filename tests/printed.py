"""Checks of the JSON that commands print, against docs/schemas."""

from collections.abc import Sequence

from epochfuzz.harness.lab import schemas


def check_json(words: Sequence[object], out: str) -> None:
    """Check the output of a command against its schema, if the command ran with --json and printed anything."""
    if "--json" in words and out:
        one, two = str(words[0]), " ".join(map(str, words[:2]))
        schemas.check(one if one in schemas.DOCUMENTS else two, out)
