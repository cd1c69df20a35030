"""Releases: what each of them, and each generation, keeps and breaks, as tables show it; from the survey."""

from collections.abc import Iterator

from epochfuzz.harness.reference.survey import SCHEDULES, SEARCHED, Broken, Verdicts, surveyed
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.properties import NAMES

HEAD = ("protocol", *NAMES)

LEGEND = (
    "A number is the length of a shortest schedule that breaks the property, with the number of replicas that it needs"
    f" in brackets, if that is not {SEARCHED[0].replicas}; with ≤ it is the shortest known. What holds was broken neither"
    f" by complete search of small bounds nor by {SCHEDULES:,} random schedules with {SEARCHED[-1].replicas} replicas;"
    " in brackets are the replicas of the searches that were complete, if not all were."
)


def bounds() -> Iterator[str]:
    """The bounds of each complete search, in words."""
    for settings in SEARCHED:
        records = "1 record" if settings.records == 1 else f"{settings.records} records"
        yield f"{settings.replicas} replicas, {records}, {settings.epochs} epoch changes"


def rows() -> list[list[str]]:
    """A row for each protocol, a cell for each property."""
    return [[name, *(cell(verdicts, each) for each in NAMES)] for name, verdicts in surveyed().items()]


def cell(verdicts: Verdicts, property_: str) -> str:
    """`holds`, or in how many events it breaks, such as `12 (3)` with three replicas."""
    broken = verdicts.broken.get(property_)
    if broken is None:
        return "holds" if all(verdicts.complete) else f"holds ({SEARCHED[0].replicas})"
    return f"{'' if broken.is_minimal else '≤ '}{len(broken.events)}{_needed(broken.settings)}"


def _needed(settings: Configuration) -> str:
    return "" if settings.replicas == SEARCHED[0].replicas else f" ({settings.replicas})"


def broken() -> Iterator[tuple[str, str, Broken]]:
    """Protocol, property and how it breaks, for all that breaks."""
    for name, verdicts in surveyed().items():
        for property_, how in verdicts.broken.items():
            yield name, property_, how
