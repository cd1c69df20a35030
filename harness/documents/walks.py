"""The types of the JSON documents of random runs, which `fuzz` and `campaign` print."""

from typing import NotRequired

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Estimate, Linked, Pair, Proof, Settings
from epochfuzz.harness.documents.records import CampaignFinding, Checked, Discovery, Unseen


class Shrunk(Proof):
    """A broken property, and the shortest schedule known for it. The tables of a campaign contain this data too.

    `variants` are other schedules of equal length that break the property. `seen` counts the random schedules that
    broke the property. The shortest schedule was shrunk from random schedule number `schedule`, which broke the
    property after `shrunk_from` events.
    """

    protocol: str
    property: str
    events: list[str]
    length: int
    variants: list[list[str]]
    seen: int
    schedule: int
    shrunk_from: int


class Finding(Shrunk, Causes, Linked):
    """A finding of a random run: a broken property with the shortest schedule known for it, and the causes.

    `fingerprint` identifies the states of a replay of the schedule. `known_flaw` is the reason to expect the finding,
    None for no reason.
    """

    fingerprint: str
    known_flaw: str | None


class Walk(TypedDict):
    """A random run and its results. `goals` counts the schedules that reached each coverage goal, by protocol."""

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
    """The JSON document that `fuzz --json` prints. `reproduce` is a command that repeats the run."""

    reproduce: str


class FuzzSaved(Fuzz):
    """The JSON document that `fuzz --json` prints with `--out` or `--new`. `saved` lists the case files."""

    saved: list[str]


class Ablation(Fuzz):
    """The JSON document that `fuzz --ablate --json` prints.

    A mechanism is a rule that differs between protocols. `fuzz --ablate` switches mechanisms back to an earlier version
    of the rule. `guards_nothing` lists the mechanisms that broke no property when they were switched back.
    """

    guards_nothing: list[str]


class AblationSaved(Ablation):
    """The JSON document that `fuzz --ablate --json` prints with `--out` or `--new`. `saved` lists the case files."""

    saved: list[str]


class Distinction(Linked):
    """The JSON document that `fuzz --breaks --holds --json` prints.

    `events` is a schedule that breaks `property` under the protocol `breaks` and no property under `holds`. `events` is
    None if `fuzz` found no schedule of this kind.
    """

    seed: int
    configuration: Settings
    breaks: str
    holds: str
    property: str
    events: list[str] | None
    length: int | None
    certified_minimal: bool


class Facts(TypedDict):
    """The time when a campaign began, and the versions of epochfuzz and of its model."""

    begun: NotRequired[str]
    epochfuzz: str
    model: str


class KeptAs(Pair):
    """A finding that the corpus (a directory of case files) already has, in the case with the id `case`."""

    case: str


class Compared(TypedDict):
    """The findings of a run, compared with the cases of a corpus.

    `known` lists the findings that a case of the corpus shows, and `new` the others. `no_longer_seen` lists violations
    that cases expect and the run did not show.
    """

    new: list[Pair]
    known: list[KeptAs]
    no_longer_seen: list[Unseen]


class Remaining(TypedDict):
    """The coverage of a campaign: the situations (coverage points) that it reached, and some that it did not reach.

    `situations` counts the reached situations by protocol. `unreached` describes situations that exhaustive search
    reaches within small bounds, and the campaign did not reach.
    """

    situations: dict[str, int]
    unreached: dict[str, list[str]]
    estimate: Estimate
    discovery: list[Discovery]
    checked: Checked


class Campaign(Walk, Facts, Compared, Remaining):
    """The JSON document of a finished campaign, from `campaign run`, `resume` or `report` with `--json`."""

    directory: str
    reproduce: str


class Error(TypedDict):
    """An exception that a user's state machine raised, and the steps that lead to it. `property` is its class."""

    protocol: str
    property: str
    events: list[str]
    length: int
    certified_minimal: bool
    seen: int
    schedule: int
    message: str


class MachineRuns(TypedDict):
    """The runs of a user's state machine, and the exceptions that it raised."""

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
    """The JSON document of a campaign that runs a user's own state machine."""

    directory: str


class Status(TypedDict):
    """The JSON document that `campaign report --json` prints for an unfinished campaign.

    The command also prints this document for a finished campaign of `conform`.
    """

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
    """A finding in a history of campaigns: its protocol, its property, and the configuration of the campaigns."""

    configuration: str


class When(TypedDict):
    """A campaign in a history: its directory, the time when it began, its versions and its seed."""

    directory: str
    begun: str
    version: str
    model: str
    seed: int


class Seen(Line):
    """A finding in a history of campaigns: the first and the last campaign that saw it.

    `looked` counts the campaigns with the finding's protocol and configuration. `campaigns` counts those that saw the
    finding.
    """

    known_flaw: str | None
    first_seen: When
    last_seen: When
    campaigns: int
    looked: int
    length: int
    is_shrunk: bool


class Covered(TypedDict):
    """The coverage of a campaign in a history: the number of situations (coverage points) that it reached.

    `new` counts the situations that no earlier campaign with this protocol and configuration reached. `so_far` counts
    the situations that the campaign and these earlier campaigns reached.
    """

    directory: str
    protocol: str
    configuration: str
    situations: int
    new: int
    so_far: int


class History(TypedDict):
    """The JSON document that `campaign report --history --json` prints.

    `new` lists the findings that only the last campaign saw. `no_longer_seen` lists the findings that the last campaign
    did not see, although the campaign ran the protocol and the configuration of the finding.
    """

    campaigns: list[Status]
    findings: list[Seen]
    new: list[Line]
    no_longer_seen: list[Line]
    coverage: list[Covered]
