"""Documents of what is known of Kafka itself: `audit` and `cluster run`."""

from typing_extensions import TypedDict

from epochfuzz.harness.cluster.timeline import Loss, Moment


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


class AuditNumbers(TypedDict):
    """How much was read; `passed` are dangers of which nothing came, `gaps` what could not be known."""

    files: int
    lines: int
    events: int
    partitions: int
    brokers: list[int]
    releases: list[str]
    passed: list[AuditFinding]
    gaps: list[str]
    seconds: float


class Audit(AuditNumbers):
    """`audit`."""

    findings: list[Explained]


class BrokerLine(TypedDict):
    """A line of a broker's log, of a cluster of our own."""

    broker: str
    line: str


class ClusterRun(TypedDict):
    """One run of a scenario; `not_reached` says for what a step waited in vain."""

    verdict: str
    seconds: float
    acknowledged: int
    lost: list[Loss]
    not_reached: str | None
    moments: list[Moment]
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
