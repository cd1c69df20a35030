"""What commands print for programs is as docs/schemas says."""

from collections.abc import Sequence

from epochfuzz.harness.lab import schemas


def check_json(words: Sequence[object], out: str) -> None:
    """Hold what a command printed against its schema, if it was asked for JSON and printed any."""
    if "--json" in words and out:
        one, two = str(words[0]), " ".join(map(str, words[:2]))
        schemas.check(one if one in schemas.DOCUMENTS else two, out)
