"""Declare the documents of random runs: `fuzz` and `campaign`."""

from typing import NotRequired

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Estimate, Pair, Proof, Settings
from epochfuzz.harness.documents.records import CampaignFinding, Checked, Discovery, Unseen


class Shrunk(Proof):
    """A property that broke, and the shortest known schedule for it, as in the tables of a campaign."""

    protocol: str
    property: str
    events: list[str]
    length: int
    variants: list[list[str]]
    seen: int
    schedule: int
    shrunk_from: int


class Finding(Shrunk, Causes):
    """A finding with its causes and its fingerprint."""

    fingerprint: str
    known_flaw: str | None


class Walk(TypedDict):
    """A random run and its results. `goals` counts the schedules that met each goal, by protocol."""

    seed: int
    configuration: Settings
    protocols: list[str]
    schedules: int
    events: int
    seconds: float
    events_per_second: int
    goals: dict[str, dict[str, int]]
    unmet_goals: list[str]
    findings: list[Finding]


class Fuzz(Walk):
    """The document of `fuzz`."""

    reproduce: str


class FuzzSaved(Fuzz):
    """The document of `fuzz` with --out or --new, which lists the case files."""

    saved: list[str]


class Ablation(Fuzz):
    """The document of `fuzz --ablate`.

    `guards_nothing` lists the mechanisms whose earlier choices broke no property.
    """

    guards_nothing: list[str]


class AblationSaved(Ablation):
    """The document of `fuzz --ablate` with --out or --new, which lists the case files."""

    saved: list[str]


class Distinction(TypedDict):
    """The document of `fuzz --breaks --holds`."""

    seed: int
    configuration: Settings
    breaks: str
    holds: str
    property: str
    events: list[str] | None
    length: int | None
    certified_minimal: bool


class Facts(TypedDict):
    """The start of a campaign, and the versions of epochfuzz and of the model."""

    begun: NotRequired[str]
    epochfuzz: str
    model: str


class KeptAs(Pair):
    """A finding that a case of the corpus already has."""

    case: str


class Compared(TypedDict):
    """The findings, compared with a corpus."""

    new: list[Pair]
    known: list[KeptAs]
    no_longer_seen: list[Unseen]


class Remaining(TypedDict):
    """The situations that a campaign has met, and the reachable situations that it has not met."""

    situations: dict[str, int]
    unreached: dict[str, list[str]]
    estimate: Estimate
    discovery: list[Discovery]
    checked: Checked


class Campaign(Walk, Facts, Compared, Remaining):
    """The document of `campaign run`, `resume` and `report` for a finished campaign."""

    directory: str
    reproduce: str


class Error(TypedDict):
    """An exception that a state machine raised, with its steps."""

    protocol: str
    property: str
    events: list[str]
    length: int
    certified_minimal: bool
    seen: int
    schedule: int
    message: str


class MachineRuns(TypedDict):
    """The runs of a state machine, with their findings."""

    seed: int
    protocols: list[str | None]
    schedules: int
    events: int
    seconds: float
    events_per_second: int
    goals: dict[str, dict[str, int]]
    findings: list[Error]
    reproduce: str


class MachineCampaign(MachineRuns, Facts):
    """The document of a campaign over your own state machine."""

    directory: str


class Status(TypedDict):
    """The document of `campaign report` for an unfinished campaign, or one that does not run the model's schedules."""

    directory: str
    state: str
    begun: str
    written: str
    version: str
    model: str
    engine: str
    seed: int
    configuration: Settings
    protocols: list[str]
    schedules: int
    seconds: float
    seconds_remaining: float | None
    findings: list[CampaignFinding]
    situations: dict[str, int]
    estimate: Estimate | None


class Line(Pair):
    """A finding in a history of campaigns."""

    configuration: str


class When(TypedDict):
    """A campaign that saw a finding."""

    directory: str
    begun: str
    version: str
    model: str
    seed: int


class Seen(Line):
    """The first and the last campaign that saw a finding. Of `looked` campaigns, `campaigns` saw the finding."""

    known_flaw: str | None
    first_seen: When
    last_seen: When
    campaigns: int
    looked: int
    length: int
    is_shrunk: bool


class Covered(TypedDict):
    """The number of situations that a campaign met, and the number that no earlier campaign had met."""

    directory: str
    protocol: str
    configuration: str
    situations: int
    new: int
    so_far: int


class History(TypedDict):
    """The document of `campaign report --history`."""

    campaigns: list[Status]
    findings: list[Seen]
    new: list[Line]
    no_longer_seen: list[Line]
    coverage: list[Covered]
