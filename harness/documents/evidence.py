"""The types of the JSON documents about Kafka itself, which `audit` and the `cluster` commands print."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.cluster_records import Loss, Playing, ReachedStep
from epochfuzz.harness.documents.parts import Linked, Settings
from epochfuzz.harness.documents.walks import Facts


class Line(TypedDict):
    """A line of a broker's log file, with its number in the file. `broker` is the broker's number, None if unknown."""

    file: str
    line: int
    broker: int | None
    text: str


class Told(TypedDict):
    """The model's explanation of an audit finding: a case that shows it, and the property that breaks in the case.

    `broken_at` is the number of the event that breaks the property, None if no event does. `because` is a sentence
    about the cause.
    """

    case: str
    protocol: str
    property: str
    broken_at: int | None
    because: str


class AuditFinding(TypedDict):
    """A finding of `audit`: records that are lost, or were in danger of loss.

    `told` describes the finding in sentences, and `evidence` lists the lines of log files that show it.
    """

    kind: str
    topic: str
    partition: int
    first_offset: int | None
    last_offset: int | None
    leader_epoch: int | None
    told: str
    evidence: list[Line]


class Explained(AuditFinding):
    """An audit finding, with the model's explanation (`explained`; None if there is none)."""

    explained: Told | None


class Disks(TypedDict):
    """The data directories that `audit` read: their paths, the numbers of replicas and log segments, and the bytes."""

    directories: list[str]
    replicas: int
    segments: int
    bytes: int


class AuditPartition(TypedDict):
    """A partition with findings.

    `ranges` lists the first and the last offset of each lost range. `records` is the number of lost offsets, None if no
    log line shows offsets. `cause` and `time` describe the loss.
    """

    topic: str
    partition: int
    ranges: list[list[int]]
    records: int | None
    cause: str
    time: str


class AuditNumbers(TypedDict):
    """The amount of input that `audit` read, and its verdict: `lost`, `found`, `inconclusive` or `nothing`.

    `passed` lists dangers that passed without a loss. `gaps` lists the reasons why `audit` may have missed a loss.
    `notes` lists the input that `audit` left out on purpose. `period` has the times of the first and the last line
    about a partition, by the brokers' clocks; null if no line has a date.
    """

    verdict: str
    files: int
    lines: int
    events: int
    partitions: int
    brokers: list[int]
    releases: list[str]
    layouts: dict[str, int]
    period: list[str] | None
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
    """One run of a scenario (a fixed sequence of steps on a cluster): its verdict and its steps (`moments`).

    `evidence` lists log lines of the brokers. `acknowledged` is the number of acknowledged records. `not_reached` is
    the condition that a step waited for in vain, or None. `clients` lists errors that clients received.
    """

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

    `play` is a link to the loss in the model of the release. `play` is None in three cases: no run lost a record, the
    runs used a repair (a fix applied to Kafka), or they were a control experiment (a changed scenario that keeps all
    records).
    """

    scenario: str
    release: str
    lost: int
    kept: int
    not_reached: int
    runs: list[ClusterRun]


class PlayedBeside(TypedDict):
    """The outcome of a schedule in the model, to compare with the outcome on a cluster.

    `permitted` is True if the outcome breaks a property, but the settings permit this violation.
    """

    protocol: str
    ended: str
    permitted: bool


class PlayedCase(Linked):
    """A case that was played on a cluster, compared with the model of the release.

    `ended` is the outcome on the cluster, and `why` explains it. `model` is the outcome in the model; None if no
    protocol models the release. `differs` describes the first difference between the cluster and the model, or is None.
    """

    id: str
    ended: str
    why: str
    model: PlayedBeside | None
    differs: str | None
    playing: Playing


class ClusterReplay(TypedDict):
    """The JSON document that `cluster replay --json` prints.

    `not_offered` maps the id of a case to the events and other parts of the case that a cluster does not support.
    """

    release: str
    cases: list[PlayedCase]
    not_offered: dict[str, list[str]]


class ShortenedPlay(TypedDict):
    """A shortened schedule, with its outcome on the cluster (`ended`) and in the model (`model`).

    `schedule` is the number of the random schedule before shrinking, which had `shrunk_from` events. A resumed run
    reads this document.
    """

    schedule: int
    ended: str
    why: str
    events: list[str]
    shrunk_from: int
    model: str


class FuzzedFinding(ShortenedPlay, Linked):
    """A finding of `cluster fuzz`: a shortened schedule and its outcomes, with a link to `play`."""


class PlayedNumbers(TypedDict):
    """Counts of the schedules and events that were played on a cluster.

    `drawn` counts random schedules. The model chose some of the random schedules to play. `schedules` counts the played
    schedules, and `ends` counts the played schedules by outcome. `unlike_the_model` counts the schedules that have
    another outcome in the model. `not_reached` describes the schedules that the cluster did not carry out.
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
    """A finding of a campaign on clusters.

    A finding has an outcome on the cluster and an outcome in the model. `seen` counts the schedules that had these two
    outcomes.
    """

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
