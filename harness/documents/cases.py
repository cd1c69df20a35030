"""Documents of commands over case files: `replay`, `shrink`, `report`, `new-case`, `corpus add`, `play`."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Proof, Verdict


class NotEnabled(TypedDict):
    """An event that did nothing: its number in the schedule, from 1."""

    number: int
    event: str


class Judged(TypedDict):
    """What a protocol makes of a case, and in what that differs from what the case expects."""

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
    """A case, by protocol."""

    id: str
    as_expected: bool
    protocols: dict[str, Judged]


class Replay(TypedDict):
    """`replay`."""

    cases: list[JudgedCase]


class Difference(TypedDict):
    """After which event a system under test first differed from the model, and in what."""

    after: int
    kind: str
    field: str | None


class Rerun(TypedDict):
    """A case on a system under test, beside the model."""

    id: str
    protocol: str
    agrees: bool
    model: Verdict
    subject: Verdict
    differs: Difference | None


class Unable(TypedDict):
    """A case that the system under test cannot run, and why."""

    id: str
    protocol: str
    unable: str


class Reruns(TypedDict):
    """`replay --subject`."""

    cases: list[Rerun | Unable]


class Shrink(Proof, Causes):
    """`shrink`."""

    protocol: str
    property: str
    events: list[str]
    length: int
    shrunk_from: int
    fingerprint: str


class Reported(TypedDict):
    """Whether a case is as it expects."""

    id: str
    as_expected: bool


class Report(TypedDict):
    """`report`: the HTML file, and what is in it."""

    report: str
    cases: list[Reported]


class NewCase(TypedDict):
    """`new-case`: the file, None if nothing was saved, and the verdicts by protocol."""

    case: str | None
    events: list[str]
    protocols: dict[str, Verdict]


class CorpusAdd(TypedDict):
    """`corpus add`: the files that were added, and by id of those offered the file that has the same already."""

    added: list[str]
    known: dict[str, str]


class Play(TypedDict):
    """`play`: where to look."""

    address: str
    protocols: list[str]
