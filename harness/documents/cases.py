"""The types of the JSON documents of commands for case files, such as `cases`, `replay`, `shrink` and `new-case`."""

from typing_extensions import TypedDict

from epochfuzz.harness.documents.parts import Causes, Linked, Proof, Settings, Verdict


class BundledCase(Linked):
    """A case that is installed with epochfuzz: its configuration, the number of its events, and its expected results.

    `protocols` has the expected result under each protocol, and `systems` on each third-party system.
    """

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
    """An event that had no effect because it was not enabled, with its number in the schedule. The first event is 1."""

    number: int
    event: str


class Judged(TypedDict):
    """The result of a case's schedule under one protocol. `mismatches` lists differences from the expected result.

    `first_broken` has the number of the event that first broke each property. `at` is the smallest of these numbers for
    the properties that the case expects to break. If none of these properties broke, `at` is the smallest number for
    the properties in `broken`. A property that only warns of a later loss, such as `isr-complete`, counts for `at` only
    if no other property broke. `broken` leaves out the properties in `permitted`: these broke, but the settings permit
    the violation.
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
    """The results of a case, by protocol. `as_expected` is True if every result is the result that the case expects."""

    id: str
    as_expected: bool
    protocols: dict[str, Judged]


class Replay(TypedDict):
    """The JSON document that `replay --json` prints."""

    cases: list[JudgedCase]


class Difference(TypedDict):
    """The first difference between a system under test and the model.

    `after` is the number of the event before the difference. The first event is 1. `kind` is the kind of difference.
    `field` is the observed field that differs, None if the difference is not in a field.
    """

    after: int
    kind: str
    field: str | None


class Rerun(Linked):
    """The results of a case in a system under test (`subject`) and in the model.

    `agrees` is True if the system and the model break the same properties after the same event. `differs` is the first
    difference between the system and the model, None if there is no difference.
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
    """The JSON document that `shrink --json` prints: the shortened schedule, its proof and its causes.

    `shrunk_from` is the number of events of the schedule before shrinking.
    """

    protocol: str
    property: str
    events: list[str]
    length: int
    shrunk_from: int
    fingerprint: str


class Reported(TypedDict):
    """A case in a report. `as_expected` is True if the case has its expected results."""

    id: str
    as_expected: bool


class Report(TypedDict):
    """The JSON document that `report --json` prints: the HTML file that was written, and the cases in it."""

    report: str
    cases: list[Reported]


class NewAdapter(TypedDict):
    """The JSON document that `new-adapter --json` prints: the directory of the new adapter, and the files in it.

    `build`, `test` and `conform` are commands to run in the directory. `build` is None if nothing has to be built.
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
    """The JSON document that `skill --json` prints: instructions for coding agents, in Markdown."""

    skill: str


class NewCase(TypedDict):
    """The JSON document that `new-case --json` prints.

    `case` is the file, None if nothing was saved. `protocols` has the expected result under each protocol.
    """

    case: str | None
    events: list[str]
    protocols: dict[str, Verdict]


class CorpusAdd(TypedDict):
    """The JSON document that `corpus add --json` prints.

    `added` lists the files that were added. `known` maps the id of each case that was not added to the file in the
    corpus that already has the case.
    """

    added: list[str]
    known: dict[str, str]


class Serve(TypedDict):
    """The JSON document that `serve --json` prints.

    `bootstrap` has the addresses of the served brokers, as a client's `bootstrap.servers`.
    """

    bootstrap: str
    topic: str
    protocol: str


class Play(TypedDict):
    """The JSON document that `play --json` prints: the address to open in a browser, and its protocols."""

    address: str
    protocols: list[str]
