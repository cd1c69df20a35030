"""Declare the documents about Kafka itself: `audit` and the `cluster` commands."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.cluster_records import Loss, Playing, ReachedStep
from epochfuzz.harness.documents.parts import Settings
from epochfuzz.harness.documents.walks import Facts


class Line(TypedDict):
    """A line of a broker's log."""

    file: str
    line: int
    broker: int | None
    text: str


class Told(TypedDict):
    """The model's explanation of a finding: its case, and the property that breaks in it."""

    case: str
    protocol: str
    property: str
    broken_at: int | None
    because: str


class AuditFinding(TypedDict):
    """Records that are lost, or were in danger of loss: `told` describes this in sentences."""

    kind: str
    topic: str
    partition: int
    first_offset: int | None
    last_offset: int | None
    leader_epoch: int | None
    told: str
    evidence: list[Line]


class Explained(AuditFinding):
    """An audit finding with the model's explanation of it."""

    explained: Told | None


class Disks(TypedDict):
    """The data directories that `audit` read."""

    directories: list[str]
    replicas: int
    segments: int
    bytes: int


class AuditPartition(TypedDict):
    """A partition with findings: the lost offsets, as ranges of first and last offset, the cause, and the time."""

    topic: str
    partition: int
    ranges: list[list[int]]
    records: int | None
    cause: str
    time: str


class AuditNumbers(TypedDict):
    """The amount of input, and the verdict: `lost`, `found`, `inconclusive` or `nothing`.

    `passed` lists dangers without damage, `gaps` the places that could hide a loss, and `notes` the input that `audit`
    left out on purpose.
    """

    verdict: str
    files: int
    lines: int
    events: int
    partitions: int
    brokers: list[int]
    releases: list[str]
    layouts: dict[str, int]
    passed: list[AuditFinding]
    gaps: list[str]
    notes: list[str]
    disks: Disks | None
    seconds: float


class Audit(AuditNumbers):
    """The document of `audit`."""

    affected: list[AuditPartition]
    findings: list[Explained]


class BrokerLine(TypedDict):
    """A line of a broker's log, from a cluster that epochfuzz started."""

    broker: str
    line: str


class ClusterRun(TypedDict):
    """One run of a scenario; `not_reached` names the condition that a step waited for and did not reach."""

    verdict: str
    seconds: float
    acknowledged: int
    lost: list[Loss]
    not_reached: str | None
    moments: list[ReachedStep]
    evidence: list[BrokerLine]
    clients: list[str]


class Cluster(TypedDict):
    """The document of `cluster run`."""

    scenario: str
    release: str
    lost: int
    kept: int
    not_reached: int
    runs: list[ClusterRun]


class PlayedBeside(TypedDict):
    """The outcome of a schedule in the model; `permitted`: the contract with clients allows this outcome."""

    protocol: str
    ended: str
    permitted: bool


class PlayedCase(TypedDict):
    """The run of a case on a cluster, and the first difference from the model."""

    id: str
    ended: str
    why: str
    model: PlayedBeside | None
    differs: str | None
    playing: Playing


class ClusterReplay(TypedDict):
    """The document of `cluster replay`: `not_offered` lists, by case, the events that a cluster cannot perform."""

    release: str
    cases: list[PlayedCase]
    not_offered: dict[str, list[str]]


class FuzzedFinding(TypedDict):
    """A schedule of `cluster fuzz`, shrunk by replays, and its outcome in the model."""

    schedule: int
    ended: str
    why: str
    events: list[str]
    shrunk_from: int
    model: str


class PlayedNumbers(TypedDict):
    """The number of schedules and events that were played.

    `ends` counts schedules by their outcome. `unlike_the_model` counts the schedules with another outcome in the model.
    """

    drawn: int
    schedules: int
    events: int
    seconds: float
    events_per_second: float | None
    replays_to_shrink: int
    ends: dict[str, int]
    unlike_the_model: dict[str, int]
    not_reached: list[str]


class FuzzedNumbers(PlayedNumbers):
    """The numbers, with the findings."""

    findings: list[FuzzedFinding]


class ClusterFuzz(FuzzedNumbers):
    """The document of `cluster fuzz`."""

    release: str
    seed: int


class SightedFinding(FuzzedFinding):
    """A finding of a campaign on clusters, and the number of its schedules with the same outcome."""

    seen: int


class ClusterCampaign(PlayedNumbers, Facts):
    """The document of `campaign run`, `resume` and `report` for a finished campaign with `--engine cluster`."""

    directory: str
    release: str
    protocol: str
    seed: int
    configuration: Settings
    findings: list[SightedFinding]
    reproduce: str
