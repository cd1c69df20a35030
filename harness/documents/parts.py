"""Declare the parts that several documents share."""

from typing import TypeAlias

from typing_extensions import TypedDict

Settings: TypeAlias = dict[str, int | bool | str]


class Proof(TypedDict):
    """The proven length of a schedule: no schedule with fewer than `searched` events breaks the property.

    `minimal_within` holds bounds within which the schedule is shortest. Kafka's model has `records` and `epochs`.
    """

    certified_minimal: bool
    searched: int
    minimal_within: dict[str, int] | None


class Estimate(TypedDict):
    """The probability that one more schedule shows something new, with its interval at `confidence`."""

    schedules: int
    alone: int
    probability: float
    low: float
    high: float
    confidence: float


class Cause(TypedDict):
    """A choice of a mechanism, or a setting, that a schedule needs to break the property."""

    mechanism: str
    choice: str
    meaning: str
    jira: list[str]
    page: str | None


class Causes(TypedDict):
    """The status of a finding: `known` from an issue or KIP, `suspected` with a page of this project, or `new`.

    `causes` lists the smallest sets of choices. The property holds again if any one of these sets is changed.
    """

    status: str
    jira: list[str]
    page: str | None
    causes: list[list[Cause]]


class Verdict(TypedDict):
    """The broken properties, and the number of the event that first broke one.

    A property that only warns of a later loss, such as `isr-complete`, counts for `at` only if no other property broke.
    """

    broken: list[str]
    at: int | None


class Pair(TypedDict):
    """A property under a protocol."""

    protocol: str
    property: str
