"""The types of the JSON documents that `bench` and `selftest` print about epochfuzz itself."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Settings
from epochfuzz.harness.documents.records import Scale


class Spread(TypedDict):
    """The median, the least and the greatest value of several measurements."""

    median: float
    least: float
    greatest: float


class Throughput(TypedDict):
    """The measured speed of a program (`subject`), in `unit`.

    `behind` is the speed of the first program with this unit, divided by the speed of this program.
    """

    subject: str
    unit: str
    per_second: Spread
    behind: Spread


class Searched(TypedDict):
    """The measured speed of an exhaustive search.

    `ratio` is the speed on all cores, divided by the speed on one core. `states_per_second_spin` is the speed of Spin
    on one core, None if it was not measured.
    """

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
    """The number of random schedules that a strategy needs to detect a mutant (`defect`, a wrong rule in the model).

    `schedules` holds the number for each seed, None for a seed that missed the mutant. In the median and the
    percentile, a seed that missed the mutant counts as `most + 1`. `most` is the largest number of schedules for each
    seed. `held_back` is True if the strategies were tuned without this mutant.
    """

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
    """The shrunk schedule that detects a mutant (`defect`), and the effort to prove that no shorter one detects it.

    `found`, `length` and `proven` are numbers of events: of the schedule before shrinking, of the shrunk schedule, and
    of the shortest schedule that is known from the mutant's proof. `certified`: a complete search found no shorter
    schedule. `bounded`: this search needed smaller bounds to fit into memory. `minimal`: the schedule is certified, and
    as short as in the mutant's proof. `seconds` is the processor time for shrinking and certifying.
    """

    defect: str
    found: int
    length: int
    proven: int
    certified: bool
    bounded: bool
    seconds: float
    minimal: bool


class ColdStart(TypedDict):
    """The seconds until `fuzz` has found a lost record and has proven the schedule shortest.

    `cold` is with an empty cache of compiled code, and `warm` with a full cache. `first` is the time until `fuzz` shows
    its first finding, with an empty cache.
    """

    first: float
    cold: float
    warm: Spread


class Started(TypedDict):
    """The processor time of a short command, in seconds. All code is compiled before the measurement.

    `ratio` is the processor time as a multiple of the time of `import numba`.
    """

    command: str
    seconds: Spread
    ratio: Spread


class Spark(TypedDict):
    """The measured speed of a campaign on Spark, compared with a local run of the same schedules by `fuzz`.

    `fuzz` and `campaign` are in events per second. `ratio` is the speed of the campaign, divided by the speed of
    `fuzz`.
    """

    cores: int
    schedules: int
    fuzz: Spread
    campaign: Spread
    ratio: Spread


class Slowest(TypedDict):
    """The mutant (`defect`) that needs the most random schedules until it is detected."""

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
    """A mutant (a deliberate mistake in the model's rules), and the property whose violation detected it.

    `property` is None if no property detected the mutant. `schedules` is the number of random schedules that ran.
    """

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
    """The JSON document that `selftest --json` prints. `caught` is True if every mutant (`defects`) was detected."""

    seed: int
    caught: bool
    defects: list[Mutant]
