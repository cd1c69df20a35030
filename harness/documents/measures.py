"""The types of the JSON documents that `bench` and `selftest` print about epochfuzz itself."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Settings
from epochfuzz.harness.documents.records import Scale


class Spread(TypedDict):
    """The median, the least and the greatest of several measurements."""

    median: float
    least: float
    greatest: float


class Throughput(TypedDict):
    """The measured speed of a program. `behind` is the factor by which the first program with this unit is faster."""

    subject: str
    unit: str
    per_second: Spread
    behind: Spread


class Searched(TypedDict):
    """The measured speed of an exhaustive search."""

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
    """The number of random schedules until a mutant is detected. `schedules` has it for each seed, None if missed."""

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
    """The length of the schedule that detects a mutant, when found and as proven, and the seconds for the proof."""

    defect: str
    found: int
    length: int
    proven: int
    certified: bool
    bounded: bool
    seconds: float
    minimal: bool


class ColdStart(TypedDict):
    """The seconds until `fuzz` has proven a lost record: with an empty cache of code (`cold`), and a full one (`warm`).

    `first` is the time until the first finding is shown, with an empty cache.
    """

    first: float
    cold: float
    warm: Spread


class Started(TypedDict):
    """The seconds until a short command ends."""

    command: str
    seconds: Spread
    ratio: Spread


class Spark(TypedDict):
    """The measured speed of a campaign on Spark, compared with a local run of the same schedules."""

    cores: int
    schedules: int
    fuzz: Spread
    campaign: Spread
    ratio: Spread


class Slowest(TypedDict):
    """The mutant that needs the most schedules until it is detected."""

    defect: str
    schedules: int


class Bench(TypedDict):
    """The JSON document that `bench --json` prints."""

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
    """A mutant (a deliberate mistake in the model's rules) and the property that detected it; None if none did."""

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
    """The JSON document that `selftest --json` prints. `caught`: every mutant was detected."""

    seed: int
    caught: bool
    defects: list[Mutant]
