"""Findings as case files: the schedule, and what the model says is to be seen where the subject differed."""

import hashlib
import re
from pathlib import Path
from typing import Any

from epochfuzz.harness.cases.case import Case, CheckedState, Expectation, dump_case
from epochfuzz.harness.cases.judgement import rewritten
from epochfuzz.harness.conform.fault import Kind
from epochfuzz.harness.conform.finding import Finding
from epochfuzz.model.events import event_text


def case_of(finding: Finding, seed: int) -> Case:
    """The case that replays a finding's schedule. It expects of the model what the model does."""
    protocol = finding.protocol.name
    sent = finding.failure.sent
    expected = _expected(finding)
    state = [CheckedState(len(sent), protocol, expected)] if expected else []
    provenance: dict[str, Any] = {"shrunk_from": finding.shrunk_from, "protocol": protocol}
    if finding.trial.number is not None:
        provenance |= {"seed": seed, "schedule": finding.trial.number}
    return rewritten(
        Case(
            id=_id(finding),
            why=f"An implementation was judged against the model. After event {len(sent)}, {event_text(sent[-1])}: "
            f"{finding.fault.sentence}",
            settings=finding.trial.settings,
            events=sent,
            expect={protocol: Expectation(())},
            states=tuple(state),
            provenance=provenance,
        )
    )


def save_case(finding: Finding, seed: int, directory: Path) -> Path:
    """Write the case of a finding into a directory, which is made if need be. Raises OSError."""
    case = case_of(finding, seed)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{case.id}.yaml"
    path.write_text(dump_case(case), encoding="utf-8")
    return path


def _id(finding: Finding) -> str:
    """A slug that is the same for the same finding."""
    schedule = finding.failure.sent + finding.trial.settings.text().encode()
    digest = hashlib.blake2b(schedule, digest_size=3).hexdigest()
    text = f"{finding.protocol.name}-{finding.fault.kind}-{finding.fault.field or ''}-{digest}"
    return re.sub(r"[^a-z0-9]+", "-", text.lower())


def _expected(finding: Finding) -> dict[str, Any]:
    """What the model shows in the field that differs, as an observation."""
    if finding.fault.kind is not Kind.DIFFERENCE or finding.fault.field in (None, "applied"):
        return {}
    *path, field = str(finding.fault.field).split(".")
    observation: dict[str, Any] = {field: finding.fault.expected}
    for name in reversed(path):
        observation = {name: observation}
    return observation
