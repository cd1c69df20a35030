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

    `tells_of` lists the choices of mechanisms whose flaws the issue reports. `mentioned_by` lists the other names whose
    explanations mention the issue.
    """

    name: str
    kind: str
    means: str
    link: str
    tells_of: list[str]
    mentioned_by: list[str]


class Example(TypedDict):
    """An example schedule under the protocol `under`.

    `breaks` is the property that the schedule breaks, None for no property. `beside` is a protocol under which the
    schedule breaks nothing, None if the example has no second protocol. `shortest`: no shorter schedule breaks the
    property.
    """

    under: str
    beside: str | None
    breaks: str | None
    configuration: Settings
    events: list[str]
    length: int
    shortest: bool


class Entry(TypedDict):
    """The JSON document that `explain NAME --json` prints.

    `generations` maps each reference design to a remark on NAME, such as `must hold` if NAME is a property. The map is
    empty if NAME is a term of the glossary.
    """

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
    """The shortest known schedule that breaks a property of a release, with its causes.

    `searched` maps a number of replicas to a length, which exhaustive search has proven: with this number of replicas,
    no schedule with fewer events breaks the property.
    """

    length: int
    certified_minimal: bool
    searched: dict[int, int]
    configuration: Settings
    events: list[str]


class Release(TypedDict):
    """A release of Kafka: the properties that break and that hold in its model.

    `judged` lists the checked properties. `complete` lists the bounds of the exhaustive searches that visited all
    states.
    """

    protocol: str
    versions: list[str]
    broken: dict[str, Broken]
    holds: list[str]
    judged: list[str]
    complete: list[Settings]


class Releases(TypedDict):
    """The JSON document that `explain releases --json` prints."""

    releases: list[Release]
