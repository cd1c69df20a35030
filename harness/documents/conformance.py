"""The document of `conform`."""

from typing import Any

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Proof, Settings


class Nonconformity(Proof):
    """A way in which the system under test differs from the model, or breaks a guarantee.

    `expected` and `observed` are values of the field, of any type.
    """

    protocol: str
    kind: str
    events: list[str]
    length: int
    field: str | None
    expected: Any
    observed: Any
    output: str
    seen: int
    schedule: int | None
    case: str | None
    shrunk_from: int
    configuration: Settings
    known_flaw: str | None
    saved: str | None


class ExplainedNonconformity(Nonconformity, Causes):
    """The same where the model breaks a property as well, with what is known of that."""


class Played(TypedDict):
    """Of the transitions `reachable`: those played, those that differ, and those that lie only behind them."""

    reachable: int
    played: int
    differing: int
    behind: int


class Transitions(Played):
    """Every transition within bounds; `refused` are events that the model refuses, where these were sent too."""

    replicas: int
    records: int
    epochs: int
    refused: Played | None
    complete: bool


class Unmet(TypedDict):
    """Of what the model meets at random, by how many names: those never met here, and of these those within bounds."""

    there_are: int
    names: list[str]
    within_bounds: list[str]


class NeverMet(TypedDict):
    """What the system under test was never driven through. The bounds are those of `--exhaustive` by default."""

    branches: Unmet
    transitions: Unmet
    pairs: Unmet
    replicas: int
    records: int
    epochs: int


class Run(TypedDict):
    """A run of conformance: what was judged, and what could not be for want of which fields.

    `never_met` is None where no model ran along, and in campaigns that were begun before it was noted.
    """

    conforms: bool
    seed: int
    configuration: Settings
    protocols: list[str]
    judgement: str
    schedules: int
    cases: int
    steps: int
    seconds: float
    steps_per_second: int
    given_up: bool
    never_applied: list[str]
    never_shown: list[str]
    never_met: NeverMet | None
    judged: list[str]
    not_judged: dict[str, list[str]]
    own_fields: list[str]
    unknown_fields: list[str]
    unable: dict[str, str]
    findings: list[Nonconformity | ExplainedNonconformity]


class Conform(Run):
    """`conform`."""

    reproduce: str


class Exhaustive(Conform):
    """`conform --exhaustive`; `transitions` is None where the system under test gave no answer."""

    transitions: Transitions | None
