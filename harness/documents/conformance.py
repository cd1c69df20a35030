"""The types of the JSON document that `conform --json` prints."""

from typing import Any

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Estimate, Linked, Proof, Settings


class Nonconformity(Proof, Linked):
    """A difference between the system under test and the model, or a guarantee that the system broke.

    `expected` and `observed` are the two values of `field`, of any JSON type. `seen` counts the schedules that showed
    the difference. `schedule` is the number of the random schedule that was shrunk, and `case` the id of the case, if a
    case showed the difference.
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
    """A nonconformity whose schedule breaks a property in the model too, with the known causes."""


class Played(TypedDict):
    """Counts of transitions: those that the model can reach, those that were played, and those that differ.

    `behind` counts the transitions that can be reached only after a differing transition.
    """

    reachable: int
    played: int
    differing: int
    behind: int


class Transitions(Played):
    """The result of `conform --exhaustive`, which plays every transition within bounds on the system under test.

    `refused` has the counts for events that the model rejects, None if these events were not sent. `complete`: every
    reachable transition was played.
    """

    replicas: int
    records: int
    epochs: int
    refused: Played | None
    complete: bool


class Unmet(TypedDict):
    """The coverage points of one kind that the system under test never reached, in `names`.

    `there_are` is the number of points of this kind that can be reached, estimated by random runs of the model.
    `within_bounds` lists the part of `names` that the model reaches within the bounds of `NeverMet`.
    """

    there_are: int
    names: list[str]
    within_bounds: list[str]


class NeverMet(TypedDict):
    """The coverage points that the system under test never reached in this run, by kind.

    `branches` are coverage goals. `transitions` are verbs with their result. `pairs` are two verbs that were applied
    one after the other. The bounds (`replicas`, `records`, `epochs`) are the defaults of `--exhaustive`.
    """

    branches: Unmet
    transitions: Unmet
    pairs: Unmet
    replicas: int
    records: int
    epochs: int


class NextEvent(TypedDict):
    """The event that the adapter should support next.

    `opens` lists the coverage points that schedules reach only with this event.
    """

    event: str
    opens: list[str]


class Run(TypedDict):
    """A conformance run: the schedules, the properties that it checked, and its findings.

    `judged` lists the properties that were checked. `not_judged` maps each other property to the fields that the system
    under test does not show. `next_event` is None if the run sent every possible event, or if it sent no event.
    `never_met` is None if no model ran alongside, and in campaigns that began before epochfuzz recorded it. `unable`
    has the reason why the system cannot run a case, by the id of the case.
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
    """The JSON document that `conform --json` prints. `reproduce` is a command that repeats the run."""

    reproduce: str


class Exhaustive(Conform):
    """The JSON document that `conform --exhaustive --json` prints.

    `transitions` is None if the system under test did not respond.
    """

    transitions: Transitions | None
