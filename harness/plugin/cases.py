"""Turn case files into pytest tests, one for each protocol. A failed test shows a drawing instead of a traceback."""

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from epochfuzz.harness.cases.case import Case, CaseError, dump_case, load_case
from epochfuzz.harness.cases.verdict import Verdict, judge, rewritten
from epochfuzz.harness.plugin import hooks as pytest_plugin
from epochfuzz.harness.plugin.item import CaseFailed, CaseTest
from epochfuzz.harness.trace.causes import reason
from epochfuzz.strategies.project import project


class NotAsExpected(CaseFailed):
    """A replay differs from the expectations of its case. The message lists the differences."""


class CaseFile(pytest.File):
    """A case file that pytest collects."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one test for each protocol.

        The protocols come from the command line, or else from the case, or else from the project's defaults. If the ini
        file sets `epochfuzz_subject` or `epochfuzz_client`, each protocol has another test, which runs the case on the
        user's adapter.
        """
        try:
            case = load_case(self.path)
        except CaseError as error:
            raise self.CollectError(str(error)) from None
        asked = pytest_plugin.protocols(self.config)
        protocols = asked or case.protocols or [protocol.name for protocol in project().protocols]
        if not protocols:
            raise self.CollectError(
                f"{self.path}: the case expects nothing of any protocol, which would test nothing; add one under expect"
            )
        for protocol in protocols:
            yield CaseItem.from_parent(self, name=f"{case.id}[{protocol}]", case=case, protocol=protocol)
        if self.config.getini("epochfuzz_subject"):
            from epochfuzz.harness.plugin.on_subject import SubjectItem

            for protocol in protocols:
                name = f"{case.id}[{protocol}, system under test]"
                yield SubjectItem.from_parent(self, name=name, case=case, protocol=protocol)
        if self.config.getini("epochfuzz_client"):
            from epochfuzz.harness.plugin.on_client import ClientItem

            for protocol in protocols:
                yield ClientItem.from_parent(self, name=f"{case.id}[{protocol}, client]", case=case, protocol=protocol)


class CaseItem(CaseTest):
    """A test that replays a case under one protocol, and checks the case's expectations."""

    def runtest(self) -> None:
        """Replay the case. Raises NotAsExpected if an expectation is not met."""
        if self.config.getoption("epochfuzz_rewrite"):
            self.case = _rewrite(self.case)
        verdict = judge(self.case, [self.protocol]).verdicts[self.protocol]
        seed = (self.case.provenance or {}).get("seed")
        if seed is not None:
            self.user_properties.append(("seed", seed))
        reproduce = self.command_line("--trace")
        self.user_properties += [("fingerprint", verdict.run.fingerprint), ("reproduce", reproduce)]
        complaints = _complaints(self.case, verdict)
        if complaints:
            heading = f"{self.case.id} under {self.protocol} is not as expected:"
            drawing = _timeline(self.case, verdict)
            raise NotAsExpected("\n".join([heading, *complaints, reproduce, _link(self.case, verdict), "", drawing]))


def _rewrite(case: Case) -> Case:
    """Replay a case, and write the results into its file as the new expectations. Returns the changed case.

    Several workers may write one file at once. All of them write equal text and replace the file as a whole, so that no
    worker reads half a file. Raises NotAsExpected if the file cannot be written.
    """
    met = rewritten(case)
    if met != case:
        assert case.path is not None  # load_case sets the path
        file = case.path.resolve()  # the file itself, if the path is a link
        written = file.with_name(f".epochfuzz-{os.getpid()}")
        try:
            written.write_text(dump_case(met), encoding="utf-8")
            written.replace(file)
        except OSError as error:
            raise NotAsExpected(f"{case.path}: cannot be rewritten: {error.strerror}") from None
    return met


def _complaints(case: Case, verdict: Verdict) -> list[str]:
    """Return the differences between a replay and the expectations of its case.

    A protocol without an expectation must break no property, except because of a known or suspected bug.
    """
    run = verdict.run
    if run.protocol.name in case.protocols:
        return list(verdict.complaints)
    return [
        f"the case has no expectation for {run.protocol.name}, which must hold {name}, but broke it after event {at}"
        for name, at in run.first_broken.items()
        if name in run.broken and reason(case.events, run.protocol, case.settings, name) is None
    ]


def _link(case: Case, verdict: Verdict) -> str:
    """Return a line with a link that opens `play` where the run first differs from the case."""
    from epochfuzz.harness.views import play_links

    return play_links.line(play_links.to_case(case, [verdict.run.protocol.name], _parts_after(case, verdict)))


def _timeline(case: Case, verdict: Verdict) -> str:
    """Return the drawing of the run, up to the first difference from the case."""
    from epochfuzz.harness.views.plain_text import drawn
    from epochfuzz.harness.views.terminal import timeline

    return drawn(timeline(replace(verdict.run, steps=verdict.run.steps[: _parts_after(case, verdict)])))


def _parts_after(case: Case, verdict: Verdict) -> int:
    """Return the number of the first event with a difference between the run and its case.

    If an expected violation never happened, the result is the number of the last event.
    """
    run, name = verdict.run, verdict.run.protocol.name
    moments: list[int | None] = []
    for state in case.states:
        if judge(replace(case, expect={}, states=(state,)), [name]).verdicts[name].mismatches:
            moments.append(state.after)
    expected = case.expect.get(name)
    if name not in case.protocols or (expected is not None and not expected.broken):
        moments.append(verdict.at)
    elif expected is not None and set(expected.broken) <= set(run.broken) and expected.at not in (None, verdict.at):
        moments += [expected.at, verdict.at]
    return min((moment for moment in moments if moment is not None), default=len(run.steps))
