"""Documents of `explain`."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Settings


class Name(TypedDict):
    """A name, in a line."""

    name: str
    kind: str
    summary: str


class Names(TypedDict):
    """`explain`."""

    names: list[Name]


class Issue(TypedDict):
    """`explain KAFKA-7395`, `explain KIP-101`: the entries that it tells of, and those that mention it."""

    name: str
    kind: str
    means: str
    link: str
    tells_of: list[str]
    mentioned_by: list[str]


class Example(TypedDict):
    """A schedule that shows something; a shortest where it breaks a property."""

    under: str
    beside: str | None
    breaks: str | None
    configuration: Settings
    events: list[str]
    length: int
    shortest: bool


class Entry(TypedDict):
    """`explain NAME`."""

    name: str
    kind: str
    means: str
    why: str
    generations: dict[str, str]
    example: Example | None


class Broken(Causes):
    """The shortest schedule known that breaks a property of a release; `searched` by the number of replicas."""

    length: int
    certified_minimal: bool
    searched: dict[int, int]
    configuration: Settings
    events: list[str]


class Release(TypedDict):
    """What a release keeps and breaks, and which searches were complete."""

    protocol: str
    versions: list[str]
    broken: dict[str, Broken]
    holds: list[str]
    judged: list[str]
    complete: list[Settings]


class Releases(TypedDict):
    """`explain releases`."""

    releases: list[Release]
