"""Declare the documents of `explain`."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Settings, Verdict


class Name(TypedDict):
    """A name, with a summary of one line."""

    name: str
    kind: str
    summary: str


class Names(TypedDict):
    """The document of `explain` without a name."""

    names: list[Name]


class Issue(TypedDict):
    """The document of `explain KAFKA-7395` or `explain KIP-101`.

    `tells_of` lists the choices whose flaws the issue reports. `mentioned_by` lists the other entries that mention the
    issue.
    """

    name: str
    kind: str
    means: str
    link: str
    tells_of: list[str]
    mentioned_by: list[str]


class Example(TypedDict):
    """An example schedule; a shortest one if it breaks a property."""

    under: str
    beside: str | None
    breaks: str | None
    configuration: Settings
    events: list[str]
    length: int
    shortest: bool


class Entry(TypedDict):
    """The document of `explain NAME`."""

    name: str
    kind: str
    means: str
    why: str
    generations: dict[str, str]
    example: Example | None


class ExplainedCase(TypedDict):
    """The document of `explain m1-loss`: a case that is installed with epochfuzz, and its expectations."""

    name: str
    kind: str
    means: str
    configuration: Settings
    events: list[str]
    protocols: dict[str, Verdict]
    systems: dict[str, Verdict]


class Broken(Causes):
    """The shortest known schedule that breaks a property of a release. The keys of `searched` are replica counts."""

    length: int
    certified_minimal: bool
    searched: dict[int, int]
    configuration: Settings
    events: list[str]


class Release(TypedDict):
    """The properties that a release holds and breaks, and the searches that were complete."""

    protocol: str
    versions: list[str]
    broken: dict[str, Broken]
    holds: list[str]
    judged: list[str]
    complete: list[Settings]


class Releases(TypedDict):
    """The document of `explain releases`."""

    releases: list[Release]
