"""Declare the document of `conform`."""

from typing import Any

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Estimate, Proof, Settings


class Nonconformity(Proof):
    """A difference between the system under test and the model, or a broken guarantee.

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
    """A nonconformity with a schedule that breaks a property in the model as well, with the known causes."""


class Played(TypedDict):
    """The number of `reachable` transitions, and the numbers of transitions that were played or differ.

    `behind` counts the transitions that can be reached only through differing transitions.
    """

    reachable: int
    played: int
    differing: int
    behind: int


class Transitions(Played):
    """Every transition within bounds.

    `refused` counts the events that the model rejects, None if these were not sent.
    """

    replicas: int
    records: int
    epochs: int
    refused: Played | None
    complete: bool


class Unmet(TypedDict):
    """Coverage points of one kind: their number in random runs of the model, and those that the system never met.

    `names` lists the points that the system under test never met. `within_bounds` lists the part of `names` that the
    model meets within the bounds.
    """

    there_are: int
    names: list[str]
    within_bounds: list[str]


class NeverMet(TypedDict):
    """The branches, transitions and pairs that the system under test never went through in this run.

    The bounds are the defaults of `--exhaustive`.
    """

    branches: Unmet
    transitions: Unmet
    pairs: Unmet
    replicas: int
    records: int
    epochs: int


class NextEvent(TypedDict):
    """The event that the adapter should support next, and the coverage points that no schedule without it reaches."""

    event: str
    opens: list[str]


class Run(TypedDict):
    """A conformance run: the checks that it made, and the fields that it lacked for other checks.

    `next_event` is None if the run sent every possible event, or none.
    `never_met` is None if no model ran alongside, and in campaigns that began before epochfuzz recorded it.
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
    estimate: Estimate
    given_up: bool
    never_applied: list[str]
    never_shown: list[str]
    never_met: NeverMet | None
    next_event: NextEvent | None
    judged: list[str]
    not_judged: dict[str, list[str]]
    own_fields: list[str]
    unknown_fields: list[str]
    unable: dict[str, str]
    findings: list[Nonconformity | ExplainedNonconformity]


class Conform(Run):
    """The document of `conform`."""

    reproduce: str


class Exhaustive(Conform):
    """The document of `conform --exhaustive`; `transitions` is None if the system under test did not respond."""

    transitions: Transitions | None
