"""The types of the JSON document that `conform --json` prints."""

from typing import Any

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Estimate, Linked, Proof, Settings
from epochfuzz.harness.documents.records import Played


class Nonconformity(Proof, Linked):
    """A difference between the system under test and the model, or a guarantee that the system broke.

    `field` is the observed field that differs, or the property that broke. `expected` is the value of the field in the
    model, or `holds` for a property. `observed` is the value of the field in the system under test, or a sentence about
    the violation. If the adapter failed, `field` is None. `expected` and `observed` can have any JSON type. `seen`
    counts the schedules that showed the finding. If the shrunk schedule was a random schedule, `schedule` is its
    number. If it was the schedule of a case, `case` is the id of the case.
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
    """A nonconformity with a schedule that breaks a property in the model too, and the causes of this violation."""


class Transitions(TypedDict):
    """The result of `conform --exhaustive`, which plays every transition within bounds on the system under test.

    The numbers of transitions are those of `Played`, for events that the model applies. `refused` has the same numbers
    for events that the model rejects, None if these events were not sent. `complete` is True if every reachable
    transition was played.
    """

    replicas: int
    records: int
    epochs: int
    reachable: int
    played: int
    differing: int
    behind: int
    refused: Played | None
    complete: bool


class Unmet(TypedDict):
    """The coverage points of one kind that the system under test never reached (`names`).

    `there_are` is the number of points of this kind that the system or random runs of the model reached.
    `within_bounds` lists the elements of `names` that the model reaches within the bounds of `NeverMet`.
    """

    there_are: int
    names: list[str]
    within_bounds: list[str]


class NeverMet(TypedDict):
    """The coverage points that the system under test never reached in this run, by kind.

    `branches` are coverage goals (named branches of the model's rules). `transitions` are pairs of a verb (a kind of
    event) and its result. `pairs` are two verbs that were applied one after the other. The bounds (`replicas`,
    `records`, `epochs`) are the defaults of `--exhaustive`.
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

    `judged` lists the properties that were checked. `not_judged` maps each property that was not checked to the fields
    that the property needs and the system under test does not show. `next_event` is None for a client, and if the run
    sent every possible event, or if it sent no event. `never_met` is None if no model ran alongside the system, and in
    campaigns by an old version of epochfuzz that did not record coverage points. `unable` maps the id of each case that
    tested nothing to the reason: the system cannot run the case, or a client sent no request for an event of the case.
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
