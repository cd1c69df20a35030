"""The types of the JSON documents that `explain --json` prints."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Linked, Settings, Verdict


class Name(TypedDict):
    """A name that `explain` knows, its kind, and a summary of one line."""

    name: str
    kind: str
    summary: str


class Names(TypedDict):
    """The JSON document that `explain --json` without a name prints."""

    names: list[Name]


class Issue(TypedDict):
    """The JSON document that `explain KAFKA-7395 --json` or `explain KIP-101 --json` prints.

    `tells_of` lists the choices whose flaws the issue reports. `mentioned_by` lists the other names whose explanations
    mention the issue.
    """

    name: str
    kind: str
    means: str
    link: str
    tells_of: list[str]
    mentioned_by: list[str]


class Example(TypedDict):
    """An example schedule under the protocol `under`. `shortest`: it is a shortest one that breaks `breaks`."""

    under: str
    beside: str | None
    breaks: str | None
    configuration: Settings
    events: list[str]
    length: int
    shortest: bool


class Entry(TypedDict):
    """The JSON document that `explain NAME --json` prints."""

    name: str
    kind: str
    means: str
    why: str
    generations: dict[str, str]
    example: Example | None


class ExplainedCase(Linked):
    """The JSON document that `explain --json` prints for the id of an installed case, such as `m1-loss`."""

    name: str
    kind: str
    means: str
    configuration: Settings
    events: list[str]
    protocols: dict[str, Verdict]
    systems: dict[str, Verdict]


class Broken(Causes):
    """The shortest known schedule that breaks a property of a release.

    `searched` maps a number of replicas to the length that no shorter schedule has, by exhaustive search.
    """

    length: int
    certified_minimal: bool
    searched: dict[int, int]
    configuration: Settings
    events: list[str]


class Release(TypedDict):
    """A release of Kafka: the properties that break and that hold in the model, and the searches that were complete."""

    protocol: str
    versions: list[str]
    broken: dict[str, Broken]
    holds: list[str]
    judged: list[str]
    complete: list[Settings]


class Releases(TypedDict):
    """The JSON document that `explain releases --json` prints."""

    releases: list[Release]
