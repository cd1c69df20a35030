"""Declare the documents of searches: `explore`, and all commands for a model of your own."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Proof, Settings


class Search(TypedDict):
    """An exhaustive search; `shortest` lists the events of a shortest schedule that breaks the property.

    `symmetry` is the largest number of states that one searched state may represent.
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
    """The document of `explore`."""

    bytes_per_state: float
    transitions_per_second: int


class Explained(Explore, Causes):
    """A search that found a schedule, with the known causes."""


class TourFile(TypedDict):
    """A file of tours; `new_transitions` counts the transitions that no earlier file covers."""

    name: str
    tours: int
    steps: int
    new_transitions: int
    bytes: int


class Tours(TypedDict):
    """The document of `explore --tests`, which is also the manifest in the directory of the files.

    `version` is the version of the conformance protocol, and `model` the digest of the rules. `complete`: the tours
    cover every transition within the bounds.
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
    """The document of `explore --model`."""

    model: str


class OwnFinding(Proof):
    """A property of a model of your own that broke."""

    protocol: str
    property: str
    events: list[str]
    length: int
    seen: int


class OwnFuzz(TypedDict):
    """The document of `fuzz --model`."""

    model: str
    seed: int
    schedules: int
    configuration: Settings
    findings: list[OwnFinding]


class OwnShrink(OwnFinding):
    """The document of `shrink --model`."""

    shrunk_from: int


class OwnVerdict(TypedDict):
    """The verdict on a case under a protocol; `as_expected` is None if the case states no expectation."""

    id: str
    protocol: str
    broken: list[str]
    at: int | None
    as_expected: bool | None


class OwnReplay(TypedDict):
    """The document of `replay --model`."""

    cases: list[OwnVerdict]
