"""Turn a finding of a run into a case that can be saved and replayed."""

import re
from typing import Any

from epochfuzz.harness.cases.case import Case, Expectation
from epochfuzz.harness.findings.findings import Finding
from epochfuzz.harness.trace.witness import Witness
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


def case_for(finding: Finding, seed: int, who: str) -> Case:
    """Return a case for a finding. The case expects the schedule's results under every protocol of the run.

    `who` names the kind of run, such as `A campaign`. The case's `why` starts with this text.
    """
    found = {
        "seed": seed,
        "schedule": finding.schedule,
        "shrunk_from": finding.shrunk_from,
        "certified_minimal": finding.reproducer.certified_minimal,
    }
    return case_of_breach(finding.witness, finding.protocol, finding.property, who, found)


def case_of_breach(witness: Witness, protocol: Protocol, property_: str, who: str, found: dict[str, Any]) -> Case:
    """Return a case for a schedule that breaks a property under a protocol.

    `found` becomes the first part of the case's `provenance`. The case's `why` starts with the text `who`.
    """
    why = f"{who} found that {protocol.name} breaks {property_}. {witness.runs[protocol.name].description}"
    about = {"protocol": protocol.name, "property": property_}
    return case_of_witness(witness, f"{protocol.name} {property_}", why, found | about)


def case_of_witness(witness: Witness, name: str, why: str, provenance: dict[str, Any]) -> Case:
    """Return a case for the schedule of a Witness. The case expects the results in `witness.runs`, by protocol.

    The id of the case is `name` in lower case. A hyphen replaces each sequence of other characters than letters and
    digits.
    """
    runs = witness.runs
    return Case(
        id=re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"),
        why=why,
        settings=witness.settings,
        events=witness.schedule,
        expect={name: Expectation(tuple(run.broken), run.at) for name, run in runs.items()},
        provenance=provenance | {"fingerprint": {name: run.fingerprint for name, run in runs.items()}},
    )
