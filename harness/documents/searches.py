"""Documents of searches: `explore`, and all commands over a model of one's own."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Proof, Settings


class Search(TypedDict):
    """An exhaustive search; `shortest` has the events of a shortest schedule that breaks the property.

    `symmetry`: of how many permutations of the replicas one is searched.
    """

    protocol: str
    property: str
    configuration: Settings
    states: int
    symmetry: int
    transitions: int
    depth: int
    complete: bool
    broken: bool
    length: int | None
    shortest: list[str] | None


class Explore(Search):
    """`explore`."""

    bytes_per_state: float
    transitions_per_second: int


class Explained(Explore, Causes):
    """The same where a schedule breaks the property, with what is known of that."""


class TourFile(TypedDict):
    """A file of tours; `new_transitions` are those along which no earlier file goes."""

    name: str
    tours: int
    steps: int
    new_transitions: int
    bytes: int


class Tours(TypedDict):
    """`explore --tests`, and the manifest beside the files; `version` is that of the conformance protocol.

    `model` is the digest of the rules. `complete`: the tours go along every transition within the bounds.
    """

    epochfuzz: str
    model: str
    version: int
    protocol: str
    configuration: Settings
    transitions: int
    tours: int
    steps: int
    bytes: int
    complete: bool
    files: list[TourFile]


class OwnExplore(Search):
    """`explore --model`."""

    model: str


class OwnFinding(Proof):
    """A property of a model of one's own that broke."""

    protocol: str
    property: str
    events: list[str]
    length: int
    seen: int


class OwnFuzz(TypedDict):
    """`fuzz --model`."""

    model: str
    seed: int
    schedules: int
    configuration: Settings
    findings: list[OwnFinding]


class OwnShrink(OwnFinding):
    """`shrink --model`."""

    shrunk_from: int


class OwnVerdict(TypedDict):
    """A case under a protocol; `as_expected` is None where the case does not say."""

    id: str
    protocol: str
    broken: list[str]
    at: int | None
    as_expected: bool | None


class OwnReplay(TypedDict):
    """`replay --model`."""

    cases: list[OwnVerdict]
