"""Save the findings of a conformance run as case files, with the model's value of the differing field."""

import hashlib
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from epochfuzz.harness.cases.case import Case, CheckedState, Expectation
from epochfuzz.harness.cases.folder import write_new
from epochfuzz.harness.cases.verdict import rewritten
from epochfuzz.harness.conform.protocol.discrepancy import DiscrepancyKind
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
from epochfuzz.model.kafka.vocabulary.events import event_text


def case_of(nonconformity: ConformanceFinding, seed: int = 0) -> Case:
    """Return the case for a finding. It has the schedule of the finding, and expects the model's behaviour."""
    protocol = nonconformity.protocol.name
    sent = nonconformity.sighting.sent
    expected = _expected(nonconformity)
    state = [CheckedState(len(sent), protocol, expected)] if expected else []
    trial = nonconformity.trial
    provenance: dict[str, Any] = {"protocol": protocol}
    if any(
        each is not None for each in (trial.number, trial.case, trial.tour)
    ):  # Hypothesis has shrunk other schedules
        provenance = {"shrunk_from": nonconformity.shrunk_from, **provenance}
    if trial.number is not None:
        provenance |= {"seed": seed, "schedule": trial.number}
    return rewritten(
        Case(
            id=_id(nonconformity),
            why=f"An implementation was compared with the model. After event {len(sent)}, {event_text(sent[-1])}: "
            f"{nonconformity.fault.sentence}",
            settings=trial.settings,
            events=sent,
            expect={protocol: Expectation(())},
            states=tuple(state),
            provenance=provenance,
        )
    )


def save_case(nonconformity: ConformanceFinding, seed: int, directory: Path) -> Path:
    """Write the case of a finding into a directory, and return the file. Raises OSError.

    An existing file with the name of the case is kept: it has an equal finding, and the user may have edited it.
    """
    case = case_of(nonconformity, seed)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{case.id}.yaml"
    with suppress(FileExistsError):
        write_new(case, path)
    return path


def _id(nonconformity: ConformanceFinding) -> str:
    """Return an id for the case of a finding. Equal findings have equal ids."""
    schedule = nonconformity.sighting.sent + nonconformity.trial.settings.text().encode()
    digest = hashlib.blake2b(schedule, digest_size=3).hexdigest()
    text = f"{nonconformity.protocol.name}-{nonconformity.fault.kind}-{nonconformity.fault.field or ''}-{digest}"
    return re.sub(r"[^a-z0-9]+", "-", text.lower())


def _expected(nonconformity: ConformanceFinding) -> dict[str, Any]:
    """Return an observation with only the differing field and the model's value, or {} if no observed field differs."""
    if nonconformity.fault.kind is not DiscrepancyKind.DIFFERENCE or nonconformity.fault.field in (None, "applied"):
        return {}
    *path, field = str(nonconformity.fault.field).split(".")
    if path == ["replicas"]:
        return {}  # a replica that the partition does not have
    observation: dict[str, Any] = {field: nonconformity.fault.expected}
    for name in reversed(path):
        observation = {name: observation}
    return observation
