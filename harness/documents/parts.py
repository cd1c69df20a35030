"""What several documents have in common."""

from typing import TypeAlias

from typing_extensions import TypedDict

Settings: TypeAlias = dict[str, int | bool | str]


class Proof(TypedDict):
    """How short a schedule is known to be: `searched` is the length below which there is nothing shorter.

    `minimal_within` has bounds within which it is minimal: of Kafka's model `records` and `epochs`.
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
    """A choice of a mechanism, or a setting, without which a schedule would break nothing."""

    mechanism: str
    choice: str
    meaning: str
    jira: list[str]
    page: str | None


class Causes(TypedDict):
    """What is known of a finding: `known` from an issue or KIP, `suspected` with a page of this project, or `new`.

    `causes` has the smallest sets of choices any one of which would have to go.
    """

    status: str
    jira: list[str]
    page: str | None
    causes: list[list[Cause]]


class Verdict(TypedDict):
    """The properties that are broken, and after which event first."""

    broken: list[str]
    at: int | None


class Pair(TypedDict):
    """A property under a protocol."""

    protocol: str
    property: str
