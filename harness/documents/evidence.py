"""The types of the JSON documents about Kafka itself, which `audit` and the `cluster` commands print."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.cluster_records import Loss, Playing, ReachedStep
from epochfuzz.harness.documents.parts import Linked, Settings
from epochfuzz.harness.documents.walks import Facts


class Line(TypedDict):
    """A line of a broker's log file."""

    file: str
    line: int
    broker: int | None
    text: str


class Told(TypedDict):
    """The model's explanation of an audit finding: a case that shows it, and the property that breaks in the case."""

    case: str
    protocol: str
    property: str
    broken_at: int | None
    because: str


class AuditFinding(TypedDict):
    """Records that are lost, or were in danger of loss. `told` describes the finding in sentences."""

    kind: str
    topic: str
    partition: int
    first_offset: int | None
    last_offset: int | None
    leader_epoch: int | None
    told: str
    evidence: list[Line]


class Explained(AuditFinding):
    """An audit finding, with the model's explanation (None if there is none)."""

    explained: Told | None


class Disks(TypedDict):
    """The number and size of the data directories that `audit` read."""

    directories: list[str]
    replicas: int
    segments: int
    bytes: int


class AuditPartition(TypedDict):
    """A partition with findings: ranges of lost offsets (first, last), the number of records, cause and time."""

    topic: str
    partition: int
    ranges: list[list[int]]
    records: int | None
    cause: str
    time: str


class AuditNumbers(TypedDict):
    """The amount of input that `audit` read, and its verdict: `lost`, `found`, `inconclusive` or `nothing`.

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
    """The JSON document that `audit --json` prints."""

    affected: list[AuditPartition]
    findings: list[Explained]


class BrokerLine(TypedDict):
    """A line in the log of a broker that epochfuzz started."""

    broker: str
    line: str


class ClusterRun(TypedDict):
    """One run of a scenario on a cluster. `not_reached` is the condition that a step waited for in vain, or None."""

    verdict: str
    seconds: float
    acknowledged: int
    lost: list[Loss]
    not_reached: str | None
    moments: list[ReachedStep]
    evidence: list[BrokerLine]
    clients: list[str]


class Cluster(Linked):
    """The JSON document that `cluster run --json` prints: the number of runs by outcome, and the runs.

    `play` opens the loss in the model of the release. It is None if no run lost a record, or if the run had a repair or
    a control.
    """

    scenario: str
    release: str
    lost: int
    kept: int
    not_reached: int
    runs: list[ClusterRun]


class PlayedBeside(TypedDict):
    """The outcome of a schedule in the model. `permitted`: the guarantees to clients allow this outcome."""

    protocol: str
    ended: str
    permitted: bool


class PlayedCase(Linked):
    """A case that was played on a cluster: its outcome there and in the model, and the first difference."""

    id: str
    ended: str
    why: str
    model: PlayedBeside | None
    differs: str | None
    playing: Playing


class ClusterReplay(TypedDict):
    """The JSON document that `cluster replay --json` prints.

    `not_offered` maps a case to the events that a cluster cannot perform.
    """

    release: str
    cases: list[PlayedCase]
    not_offered: dict[str, list[str]]


class ShortenedPlay(TypedDict):
    """A shortened schedule, with its outcome on the cluster and in the model, as a resumed run reads it."""

    schedule: int
    ended: str
    why: str
    events: list[str]
    shrunk_from: int
    model: str


class FuzzedFinding(ShortenedPlay, Linked):
    """A finding of `cluster fuzz`."""


class PlayedNumbers(TypedDict):
    """Counts of the schedules and events that were played on a cluster.

    `ends` counts schedules by their outcome. `unlike_the_model` counts the schedules that have another outcome in the
    model.
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
    """Counts of the schedules that were played on a cluster, with the findings."""

    findings: list[FuzzedFinding]


class ClusterFuzz(FuzzedNumbers):
    """The JSON document that `cluster fuzz --json` prints."""

    release: str
    seed: int


class SightedFinding(FuzzedFinding):
    """A finding of a campaign on clusters. `seen` is the number of its schedules with the finding's outcome."""

    seen: int


class ClusterCampaign(PlayedNumbers, Facts):
    """The JSON document of a finished campaign with `--engine cluster`, from `campaign run`, `resume` or `report`."""

    directory: str
    release: str
    protocol: str
    seed: int
    configuration: Settings
    findings: list[SightedFinding]
    reproduce: str
