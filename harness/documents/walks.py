"""Documents of random walks: `fuzz` and `campaign`."""

from typing import NotRequired

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Estimate, Pair, Proof, Settings
from epochfuzz.harness.documents.records import CampaignFinding, Checked, Discovery, Unseen


class Shrunk(Proof):
    """A property that broke, and the shortest schedule known for it, as the tables of a campaign have it as well."""

    protocol: str
    property: str
    events: list[str]
    length: int
    variants: list[list[str]]
    seen: int
    schedule: int
    shrunk_from: int


class Finding(Shrunk, Causes):
    """What is shown of a finding."""

    fingerprint: str
    known_flaw: str | None


class Walk(TypedDict):
    """What was walked, and what came of it. `goals`: how many schedules met each, by protocol."""

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
    """`fuzz`."""

    reproduce: str


class FuzzSaved(Fuzz):
    """The same with --out or --new: the case files."""

    saved: list[str]


class Ablation(Fuzz):
    """`fuzz --ablate`: `guards_nothing` has the mechanisms none of whose earlier choices broke anything."""

    guards_nothing: list[str]


class AblationSaved(Ablation):
    """The same with --out or --new: the case files."""

    saved: list[str]


class Distinction(TypedDict):
    """`fuzz --breaks --holds`."""

    seed: int
    configuration: Settings
    breaks: str
    holds: str
    property: str
    events: list[str] | None
    length: int | None
    certified_minimal: bool


class Facts(TypedDict):
    """With what a campaign was begun, and when."""

    begun: NotRequired[str]
    epochfuzz: str
    model: str


class KeptAs(Pair):
    """A finding that a case of the corpus has."""

    case: str


class Compared(TypedDict):
    """Findings beside a corpus."""

    new: list[Pair]
    known: list[KeptAs]
    no_longer_seen: list[Unseen]


class Remaining(TypedDict):
    """What a campaign has covered, and what not."""

    situations: dict[str, int]
    unreached: dict[str, list[str]]
    estimate: Estimate
    discovery: list[Discovery]
    checked: Checked


class Campaign(Walk, Facts, Compared, Remaining):
    """`campaign run`, `resume` and `report` of a campaign that is finished."""

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
    """Runs of a state machine."""

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
    """The same of a campaign over a state machine of one's own."""

    directory: str


class Status(TypedDict):
    """`campaign report` of one that is not finished, or is not of schedules of the model."""

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
    """A finding, through campaigns."""

    configuration: str


class When(TypedDict):
    """A campaign that a finding was seen in."""

    directory: str
    begun: str
    version: str
    model: str
    seed: int


class Seen(Line):
    """When a finding was first and last seen, in how many campaigns of how many that `looked`."""

    known_flaw: str | None
    first_seen: When
    last_seen: When
    campaigns: int
    looked: int
    length: int
    is_shrunk: bool


class Covered(TypedDict):
    """How many situations a campaign met, and how many of them none before it."""

    directory: str
    protocol: str
    configuration: str
    situations: int
    new: int
    so_far: int


class History(TypedDict):
    """`campaign report --history`."""

    campaigns: list[Status]
    findings: list[Seen]
    new: list[Line]
    no_longer_seen: list[Line]
    coverage: list[Covered]
