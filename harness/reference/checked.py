"""Read checked.yaml: the versions of Kafka whose own code ran in lockstep with the model, without unknown differences.

The table of releases shows these versions. If a release has no version in the file, its rules were written
from Kafka's source and not checked by a run.
"""

import functools
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from epochfuzz.harness.text.yaml_text import parsed
from epochfuzz.model.kafka.vocabulary import versions

FILE = Path(__file__).with_name("checked.yaml")
COLUMN = "checked on"
BY_READING = "by reading"
LEGEND = (
    f"*{COLUMN.capitalize()}* lists the jars that ran in lockstep with the model. The parentheses have the number of"
    f" random schedules and the day of the last run. A row with *{BY_READING}* follows Kafka's source, and no"
    " lockstep run has checked the row. Before 3.4, the controller of these runs is epochfuzz's own."
    " 3.5.0, 3.5.1 and 3.6.2 ran with `isr_eligibility=incarnation`, because the adapter cannot show the race of"
    " KAFKA-15221."
)


@dataclass(frozen=True)
class Check:
    """The lockstep runs of one version of Kafka's jars: the number of random schedules, and the day of the last run."""

    jars: str
    schedules: int
    date: date

    @property
    def text(self) -> str:
        """Return the check as text for a table, such as `2.8.1 (10,000 schedules, 2026-11-24)`."""
        return f"{self.jars} ({self.schedules:,} schedules, {self.date.isoformat()})"


@functools.cache
def checks() -> tuple[Check, ...]:
    """Return the checks in checked.yaml, in the order of the file."""
    return tuple(Check(jars, **entry) for jars, entry in parsed(FILE.read_text(encoding="utf-8")).items())


def checked_on(release: str) -> str:
    """Return the checks of a release such as `kafka-2.6.1`, as text for a table; `by reading` if there are none."""
    texts = [check.text for check in checks() if versions.release_of(f"{versions.PREFIX}{check.jars}") == release]
    return ", ".join(texts) or BY_READING


def checked_in_short(names: Collection[str]) -> str:
    """Return one table cell about the checks of several releases.

    The cell has the versions of the jars, the total number of schedules, and the day of the last run.
    Without checks, the cell is `by reading`.
    """
    found = [check for check in checks() if versions.release_of(f"{versions.PREFIX}{check.jars}") in names]
    if not found:
        return BY_READING
    schedules = sum(check.schedules for check in found)
    last = max(check.date for check in found)
    return f"{', '.join(check.jars for check in found)} ({schedules:,} schedules, {last.isoformat()})"
