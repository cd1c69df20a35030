"""Documents of what is known of Kafka itself: `audit` and the `cluster` commands."""

from typing import Literal

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Settings
from epochfuzz.harness.documents.walks import Facts


class Line(TypedDict):
    """A line of a broker's log."""

    file: str
    line: int
    broker: int | None
    text: str


class Told(TypedDict):
    """What the model makes of a finding: its case, and the property that breaks in it."""

    case: str
    protocol: str
    property: str
    broken_at: int | None
    because: str


class AuditFinding(TypedDict):
    """Records that are gone, or were in danger of it: `told` in sentences."""

    kind: str
    topic: str
    partition: int
    first_offset: int | None
    last_offset: int | None
    leader_epoch: int | None
    told: str
    evidence: list[Line]


class Explained(AuditFinding):
    """The same with what the model makes of it."""

    explained: Told | None


class Disks(TypedDict):
    """The data directories that were read."""

    directories: list[str]
    replicas: int
    segments: int
    bytes: int


class AuditPartition(TypedDict):
    """A partition that was found: the offsets that are gone, as ranges of first and last, the cause, and when."""

    topic: str
    partition: int
    ranges: list[list[int]]
    records: int | None
    cause: str
    time: str


class AuditNumbers(TypedDict):
    """How much was read, and the verdict: `lost`, `found`, `inconclusive` or `nothing`.

    `passed` has dangers that did no harm, `gaps` what could hide a loss, `notes` what was left out on purpose.
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
    """`audit`."""

    affected: list[AuditPartition]
    findings: list[Explained]


class LogRecord(TypedDict):
    """A record of a log."""

    offset: int
    epoch: int
    value: str


class AcknowledgedRecord(TypedDict):
    """A record that a producer was told is safe; `at` in seconds since 1970 (Unix time)."""

    value: str
    partition: int
    offset: int
    at: float


class ReadRecord(TypedDict):
    """A record that a consumer has read; `at` in seconds since 1970 (Unix time)."""

    value: str
    offset: int
    at: float
    partition: int


class ReplicaAtStep(TypedDict):
    """A replica when a step was reached. `high_watermark` is that of a leader, as it logged or served it."""

    state: str
    role: str
    log: list[LogRecord]
    high_watermark: int | None


class StepReached(TypedDict):
    """A step that has been reached, `after` so many seconds. Records are those since the step before."""

    after: float
    step: str
    what: str
    replicas: dict[str, ReplicaAtStep]
    acknowledged: list[AcknowledgedRecord]
    read: list[ReadRecord]


class LostRecord(TypedDict):
    """An acknowledged record that is not at its offset any more; `instead` is the value that is there now."""

    value: str
    partition: int
    offset: int
    instead: str | None
    was_read: bool


class ReplicasAfterEvent(TypedDict):
    """The logs of the replicas after an event, as their files have them, and the controller's leader and ISR."""

    logs: dict[str, list[str]]
    leader: str | None
    isr: list[str]


class EventPlayed(TypedDict):
    """An event, numbered from 1, and its outcome: `done`, `nothing to do`, `refused` or `not done`."""

    number: int
    event: str
    outcome: Literal["done", "nothing to do", "refused", "not done"]
    what: str
    seconds: float
    seen: ReplicasAfterEvent


class SchedulePlayed(TypedDict):
    """A schedule that was played. `unread` are records that a consumer could read once, and cannot any more."""

    ended: Literal["LOST", "DIVERGED", "STUCK", "KEPT", "NOT REACHED"]
    why: str
    steps: list[EventPlayed]
    acknowledged: int
    lost: list[LostRecord]
    unread: list[str]
    left: list[str]
    seconds: float


class BrokerLine(TypedDict):
    """A line of a broker's log, of a cluster of our own."""

    broker: str
    line: str


class ClusterRun(TypedDict):
    """One run of a scenario; `not_reached` says for what a step waited in vain."""

    verdict: str
    seconds: float
    acknowledged: int
    lost: list[LostRecord]
    not_reached: str | None
    moments: list[StepReached]
    evidence: list[BrokerLine]
    clients: list[str]


class Cluster(TypedDict):
    """`cluster run`."""

    scenario: str
    release: str
    lost: int
    kept: int
    not_reached: int
    runs: list[ClusterRun]


class PlayedBeside(TypedDict):
    """What the model's release makes of a schedule; `permitted` by the contract with clients."""

    protocol: str
    ended: str
    permitted: bool


class PlayedCase(TypedDict):
    """A case as it went on a cluster, and where it first differs from the model."""

    id: str
    ended: str
    why: str
    model: PlayedBeside | None
    differs: str | None
    playing: SchedulePlayed


class ClusterReplay(TypedDict):
    """`cluster replay`: `not_offered` has by case what a cluster is not asked for."""

    release: str
    cases: list[PlayedCase]
    not_offered: dict[str, list[str]]


class FuzzedFinding(TypedDict):
    """A schedule of `cluster fuzz`, shrunk by replay, and how the model ends it."""

    schedule: int
    ended: str
    why: str
    events: list[str]
    shrunk_from: int
    model: str


class PlayedNumbers(TypedDict):
    """How much was played; `ends` counts schedules by how they ended, `unlike_the_model` those that end otherwise."""

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
    """The same with what was found."""

    findings: list[FuzzedFinding]


class ClusterFuzz(FuzzedNumbers):
    """`cluster fuzz`."""

    release: str
    seed: int


class SightedFinding(FuzzedFinding):
    """A finding of a campaign on clusters, and how many of its schedules ended so."""

    seen: int


class ClusterCampaign(PlayedNumbers, Facts):
    """`campaign run`, `resume` and `report` of one with `--engine cluster` that is finished."""

    directory: str
    release: str
    protocol: str
    seed: int
    configuration: Settings
    findings: list[SightedFinding]
    reproduce: str
