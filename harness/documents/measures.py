"""Declare the documents of measurements of epochfuzz itself: `bench` and `selftest`."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Settings
from epochfuzz.harness.documents.records import Scale


class Spread(TypedDict):
    """The median, the least and the greatest of some measurements."""

    median: float
    least: float
    greatest: float


class Throughput(TypedDict):
    """The speed of a subject; `behind` is the factor by which the first subject with the same unit is faster."""

    subject: str
    unit: str
    per_second: Spread
    behind: Spread


class Searched(TypedDict):
    """The speed of an exhaustive search."""

    protocol: str
    configuration: Settings
    symmetry: bool
    states: int
    transitions: int
    bytes_per_state: float
    states_per_second_one_core: Spread
    states_per_second_all_cores: Spread
    ratio: Spread
    states_per_second_spin: Spread | None


class Detected(TypedDict):
    """The number of schedules that epochfuzz needs to detect a mutant."""

    defect: str
    strategy: str
    held_back: bool
    most: int
    median: float
    percentile_95: float
    median_seconds: float
    missed_seeds: list[int]
    schedules: list[int | None]


class Reproducer(TypedDict):
    """The length of a reproducer, and its proof."""

    defect: str
    found: int
    length: int
    proven: int
    certified: bool
    bounded: bool
    seconds: float
    minimal: bool


class ColdStart(TypedDict):
    """The seconds until a first run ends."""

    first: float
    cold: float
    warm: Spread


class Started(TypedDict):
    """The seconds until a short command ends."""

    command: str
    seconds: Spread
    ratio: Spread


class Spark(TypedDict):
    """The speed of a campaign, compared with a local run of the same schedules."""

    cores: int
    schedules: int
    fuzz: Spread
    campaign: Spread
    ratio: Spread


class Slowest(TypedDict):
    """The mutant whose detection needs the most schedules."""

    defect: str
    schedules: int


class Bench(TypedDict):
    """The document of `bench`."""

    machine: dict[str, str]
    scale: Scale
    throughput: list[Throughput]
    search: list[Searched]
    detection: list[Detected]
    reproducers: list[Reproducer]
    cold_start: ColdStart | None
    started: list[Started]
    spark: Spark | None
    missed: list[str]
    not_minimal: list[str]
    slowest: Slowest


class Mutant(TypedDict):
    """A mutant, and the property that detected it, None if no property did."""

    name: str
    mistake: str
    module: str
    rules: list[str]
    jira: str | None
    protocol: str
    configuration: Settings
    property: str | None
    schedules: int


class Selftest(TypedDict):
    """The document of `selftest`."""

    seed: int
    caught: bool
    defects: list[Mutant]
