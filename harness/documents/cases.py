"""The types of the JSON documents of commands for case files, such as `cases`, `replay`, `shrink` and `new-case`."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Linked, Proof, Settings, Verdict


class BundledCase(Linked):
    """A case that is installed with epochfuzz: the number of its events, and its expected results."""

    id: str
    summary: str
    why: str
    configuration: Settings
    events: int
    protocols: dict[str, Verdict]
    systems: dict[str, Verdict]


class Cases(TypedDict):
    """The JSON document that `cases --json` prints."""

    cases: list[BundledCase]


class NotEnabled(TypedDict):
    """An event that had no effect because it was not enabled, with its number in the schedule, from 1."""

    number: int
    event: str


class Judged(TypedDict):
    """The result of a case's schedule under one protocol, and its `mismatches` with the expected result.

    `first_broken` has the number of the event that first broke each property. `at` is the smallest of these numbers
    among the properties that the case expects to break. If none of these broke, it is the smallest among all properties
    in `broken`. A property that only warns of a later loss, such as `isr-complete`, counts for `at` only if no other
    one broke.
    """

    broken: list[str]
    permitted: list[str]
    at: int | None
    first_broken: dict[str, int]
    causes: dict[str, Causes]
    fingerprint: str
    mismatches: list[str]
    events: int
    did_nothing: list[NotEnabled]


class JudgedCase(Linked):
    """The results of a case, by protocol."""

    id: str
    as_expected: bool
    protocols: dict[str, Judged]


class Replay(TypedDict):
    """The JSON document that `replay --json` prints."""

    cases: list[JudgedCase]


class Difference(TypedDict):
    """The first difference between a system under test and the model.

    `after` is the number of the event, from 1. `kind` is the kind of difference. `field` is the visible value that
    differs, None for no value.
    """

    after: int
    kind: str
    field: str | None


class Rerun(Linked):
    """The results of a case in a system under test (`subject`) and in the model.

    `agrees`: both break the same properties, after the same event.
    """

    id: str
    protocol: str
    agrees: bool
    model: Verdict
    subject: Verdict
    differs: Difference | None


class Unable(TypedDict):
    """A case that the system under test cannot run. `unable` is the reason."""

    id: str
    protocol: str
    unable: str


class Reruns(TypedDict):
    """The JSON document that `replay --subject --json` prints."""

    cases: list[Rerun | Unable]


class Shrink(Proof, Causes, Linked):
    """The JSON document that `shrink --json` prints: the shortened schedule, its proof and its causes."""

    protocol: str
    property: str
    events: list[str]
    length: int
    shrunk_from: int
    fingerprint: str


class Reported(TypedDict):
    """A case in a report. `as_expected`: its results are as it expects."""

    id: str
    as_expected: bool


class Report(TypedDict):
    """The JSON document that `report --json` prints: the HTML file that was written, and the cases in it."""

    report: str
    cases: list[Reported]


class NewAdapter(TypedDict):
    """The document of `new-adapter`.

    `build`, `test` and `conform` are commands for the directory; `build` is None if nothing has to be built.
    """

    directory: str
    language: str
    events: list[str]
    files: list[str]
    build: str | None
    test: str
    conform: str
    next_steps: list[str]


class Skill(TypedDict):
    """The document of `skill`: the text of the skill, in Markdown."""

    skill: str


class NewCase(TypedDict):
    """The JSON document that `new-case --json` prints. `case` is the file, None if nothing was saved."""

    case: str | None
    events: list[str]
    protocols: dict[str, Verdict]


class CorpusAdd(TypedDict):
    """The JSON document that `corpus add --json` prints.

    `added` lists the files that were added. `known` maps the id of each other case to the file that already has it.
    """

    added: list[str]
    known: dict[str, str]


class Serve(TypedDict):
    """The served brokers: their addresses, as `bootstrap.servers` of a client, the topic and the protocol."""

    bootstrap: str
    topic: str
    protocol: str


class Play(TypedDict):
    """The JSON document that `play --json` prints: the address to open in a browser, and the protocols."""

    address: str
    protocols: list[str]
