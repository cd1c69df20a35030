"""The types of the parts that several JSON documents share."""

from typing import TypeAlias

from typing_extensions import TypedDict

Settings: TypeAlias = dict[str, int | bool | str]


class Proof(TypedDict):
    """The state of the proof that no shorter schedule breaks a property.

    `certified_minimal` is True if the proof is complete. No schedule with fewer than `searched` events breaks the
    property. If only a search within smaller bounds finished, `minimal_within` holds these bounds. In all other cases
    `minimal_within` is None. Kafka's model has the bounds `records` and `epochs`.
    """

    certified_minimal: bool
    searched: int
    minimal_within: dict[str, int] | None


class Estimate(TypedDict):
    """The probability that one more schedule shows something new, with its interval (`low` to `high`).

    `alone` is the number of schedules, among all `schedules`, that showed something that no other schedule showed.
    `confidence` is the confidence of the interval.
    """

    schedules: int
    alone: int
    probability: float
    low: float
    high: float
    confidence: float


class Cause(TypedDict):
    """A choice of a mechanism (one version of a protocol's rule), or a setting, that is part of a violation's cause.

    `meaning` explains the choice. `jira` lists the issues and KIPs that describe the cause. `page` is the page of this
    project that describes the cause, or None.
    """

    mechanism: str
    choice: str
    meaning: str
    jira: list[str]
    page: str | None


class Causes(TypedDict):
    """The status of a finding, and the sets of choices that cause the violation.

    A choice is one version of a protocol's rule. `status` is `known` if an issue or a KIP reports the causes, and
    `suspected` if only a page of this project does. Otherwise `status` is `new`. `causes` lists the smallest sets of
    choices with this effect: if sound choices replace the choices of one set, the schedule no longer breaks the
    property.
    """

    status: str
    jira: list[str]
    page: str | None
    causes: list[list[Cause]]


class Verdict(TypedDict):
    """The broken properties (`broken`), and the number of the first event that broke one (`at`). Events count from 1.

    `at` is None if no property broke, or if an expected result does not state the event. A property that only warns of
    a later loss, such as `isr-complete`, counts for `at` only if no other property broke.
    """

    broken: list[str]
    at: int | None


class Linked(TypedDict):
    """A result that the command `play` can open.

    The value of `play` is the address of a step of the result's schedule. The value is None if there is no schedule, or
    if the schedule is too long for the command.
    """

    play: str | None


class Pair(TypedDict):
    """A property that breaks under a protocol: the names of both."""

    protocol: str
    property: str
