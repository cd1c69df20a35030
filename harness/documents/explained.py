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

    A mechanism is a rule that differs between protocols, and a choice is one version of the rule. `tells_of` lists the
    choices that have a flaw which the issue reports. `mentioned_by` lists the other names with an explanation that
    mentions the issue.
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
    schedule breaks nothing, None if the example has no second protocol. `shortest` is True if no shorter schedule
    breaks the property.
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

    `generations` maps each reference design (a protocol such as `kip-320`) to a remark on NAME, such as `must hold` if
    NAME is a property. If NAME is a protocol, the map has only this protocol. The map is empty if NAME is only a term
    of the glossary.
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

    `searched` maps a number of replicas to a number of events. Exhaustive search has proven that with this number of
    replicas, no schedule with fewer events breaks the property. `within` is the same for schedules with at most 3
    records and 3 epoch changes.
    """

    length: int
    certified_minimal: bool
    searched: dict[int, int]
    within: dict[int, int]
    configuration: Settings
    events: list[str]


class Release(TypedDict):
    """A release of Kafka: the properties that break and that hold in its model.

    `judged` lists the checked properties. `complete` lists the bounds within which exhaustive search has visited all
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
