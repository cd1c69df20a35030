"""Declare the documents of commands for case files: `cases`, `replay`, `shrink`, `report`, `new-case` and others."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Proof, Settings, Verdict


class BundledCase(TypedDict):
    """A case that is installed with epochfuzz, with the number of its events and its expectations."""

    id: str
    summary: str
    why: str
    configuration: Settings
    events: int
    protocols: dict[str, Verdict]
    systems: dict[str, Verdict]


class Cases(TypedDict):
    """The document of `cases`."""

    cases: list[BundledCase]


class NotEnabled(TypedDict):
    """An event that did nothing, with its number in the schedule, from 1."""

    number: int
    event: str


class Judged(TypedDict):
    """The verdict on a case under a protocol, and its differences from the verdict that the case expects.

    `first_broken` has the number of the event that first broke each property. `at` is the smallest of these numbers,
    among the properties that the case expects to break. If the case expects none of the broken ones, `at` is the
    smallest among all that should hold. A property that only warns of a later loss, such as `isr-complete`, counts for
    `at` only if no other property of these broke.
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


class JudgedCase(TypedDict):
    """The verdicts on a case, by protocol."""

    id: str
    as_expected: bool
    protocols: dict[str, Judged]


class Replay(TypedDict):
    """The document of `replay`."""

    cases: list[JudgedCase]


class Difference(TypedDict):
    """The first difference between a system under test and the model: the event's number, the kind, and the field."""

    after: int
    kind: str
    field: str | None


class Rerun(TypedDict):
    """The verdicts on a case for a system under test and for the model."""

    id: str
    protocol: str
    agrees: bool
    model: Verdict
    subject: Verdict
    differs: Difference | None


class Unable(TypedDict):
    """A case that the system under test cannot run, and the reason."""

    id: str
    protocol: str
    unable: str


class Reruns(TypedDict):
    """The document of `replay --subject`."""

    cases: list[Rerun | Unable]


class Shrink(Proof, Causes):
    """The document of `shrink`."""

    protocol: str
    property: str
    events: list[str]
    length: int
    shrunk_from: int
    fingerprint: str


class Reported(TypedDict):
    """The id of a case, and whether its verdict is as the case expects."""

    id: str
    as_expected: bool


class Report(TypedDict):
    """The document of `report`: the HTML file, and its cases."""

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
    """The document of `new-case`: the file, None if nothing was saved, and the verdicts by protocol."""

    case: str | None
    events: list[str]
    protocols: dict[str, Verdict]


class CorpusAdd(TypedDict):
    """The document of `corpus add`.

    `added` lists the files that were added. `known` maps the id of each other case to the file that already has it.
    """

    added: list[str]
    known: dict[str, str]


class Play(TypedDict):
    """The document of `play`: the address to open, and the protocols."""

    address: str
    protocols: list[str]
