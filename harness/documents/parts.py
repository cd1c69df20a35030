"""The types of the parts that several JSON documents share."""

from typing import TypeAlias

from typing_extensions import TypedDict

Settings: TypeAlias = dict[str, int | bool | str]


class Proof(TypedDict):
    """The proof that a schedule is a shortest one: no schedule with fewer than `searched` events breaks the property.

    `minimal_within` holds lower bounds within which the schedule is proven shortest, None for none. Kafka's model has
    the bounds `records` and `epochs`.
    """

    certified_minimal: bool
    searched: int
    minimal_within: dict[str, int] | None


class Estimate(TypedDict):
    """The probability that one more schedule shows something new, with its interval (`low` to `high`).

    `alone` of the `schedules` showed something that no other schedule showed.
    """

    schedules: int
    alone: int
    probability: float
    low: float
    high: float
    confidence: float


class Cause(TypedDict):
    """A choice of a mechanism, or a setting, that is part of the cause of a violation."""

    mechanism: str
    choice: str
    meaning: str
    jira: list[str]
    page: str | None


class Causes(TypedDict):
    """The status of a finding: `known` from an issue or KIP, `suspected` with a page of this project, or `new`.

    `causes` lists the smallest sets of choices. With sound choices in place of one set, the schedule breaks the
    property no longer.
    """

    status: str
    jira: list[str]
    page: str | None
    causes: list[list[Cause]]


class Verdict(TypedDict):
    """The broken properties, and the number of the event that first broke one of them; None if none broke.

    A property that only warns of a later loss, such as `isr-complete`, counts for `at` only if no other property broke.
    """

    broken: list[str]
    at: int | None


class Linked(TypedDict):
    """A case or a finding that `play` can open. `play` is the address of its step.

    `play` is None if there is no schedule, or if the schedule is too long for `play`.
    """

    play: str | None


class Pair(TypedDict):
    """A property that breaks under a protocol."""

    protocol: str
    property: str
