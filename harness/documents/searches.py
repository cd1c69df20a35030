"""The types of the JSON documents of searches: `explore`, and every command with `--model`, for a user's own model."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Linked, Proof, Settings


class Search(TypedDict):
    """The result of an exhaustive search.

    `shortest` lists the events of a shortest schedule that breaks the property, None if the search found none. `states`
    is the number of searched states. With symmetry, a searched state represents up to `symmetry` states, which differ
    only in the names of replicas. Without symmetry, `symmetry` is 1. `complete` is True if the search covered all
    states within the bounds. If not, it covered all schedules of up to `depth` events.
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


class Explore(Search, Linked):
    """The JSON document that `explore --json` prints."""

    bytes_per_state: float
    transitions_per_second: int


class Explained(Explore, Causes):
    """The JSON document that `explore --json` prints if a schedule breaks the property.

    In addition to the keys of Explore, the document has the causes of the violation.
    """


class TourFile(TypedDict):
    """A file of test sequences. `new_transitions` counts the transitions that no earlier file covers."""

    name: str
    tours: int
    steps: int
    new_transitions: int
    bytes: int


class Tours(TypedDict):
    """The JSON document that `explore --tests --json` prints, and the manifest in the directory of tours.

    A tour is a test sequence. `version` is the version of the conformance protocol, and `model` the digest of the
    model's rules. `complete`: the tours cover every transition within the bounds.
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
    """The JSON document that `explore --model --json` prints. `model` is the name of the user's model."""

    model: str


class OwnFinding(Proof):
    """A property of the user's own model that a schedule breaks.

    `seen` counts the random schedules that broke the property.
    """

    protocol: str
    property: str
    events: list[str]
    length: int
    seen: int


class OwnFuzz(TypedDict):
    """The JSON document that `fuzz --model --json` prints. `model` is the name of the user's model."""

    model: str
    seed: int
    schedules: int
    configuration: Settings
    findings: list[OwnFinding]


class OwnShrink(OwnFinding):
    """The JSON document that `shrink --model --json` prints.

    `shrunk_from` is the number of events of the schedule before shrinking.
    """

    shrunk_from: int


class OwnVerdict(TypedDict):
    """The result of a case under a protocol of the user's own model.

    `at` is the number of the event that first broke a property. The first event has number 1. A property that is
    checked at the end of the schedule breaks after the last event. `at` is None if no property broke. `as_expected` is
    None if the case states no expected result.
    """

    id: str
    protocol: str
    broken: list[str]
    at: int | None
    as_expected: bool | None


class OwnReplay(TypedDict):
    """The JSON document that `replay --model --json` prints."""

    cases: list[OwnVerdict]
