"""Turn a finding into a case, for replay, for reading and for a corpus."""

import re
from typing import Any

from epochfuzz.harness.cases.case import Case, Expectation
from epochfuzz.harness.findings.findings import Finding
from epochfuzz.harness.trace.witness import Witness
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


def case_for(finding: Finding, seed: int, who: str) -> Case:
    """Return the case of a finding: the result of its schedule under every protocol of the run, and the reason.

    `who` names the finder at the start of the reason, as in `A campaign`.
    """
    found = {
        "seed": seed,
        "schedule": finding.schedule,
        "shrunk_from": finding.shrunk_from,
        "certified_minimal": finding.reproducer.certified_minimal,
    }
    return case_of_breach(finding.witness, finding.protocol, finding.property, who, found)


def case_of_breach(witness: Witness, protocol: Protocol, property_: str, who: str, found: dict[str, Any]) -> Case:
    """Return the case of a witness for a property that a protocol breaks. `found` is the start of its provenance."""
    why = f"{who} found that {protocol.name} breaks {property_}. {witness.runs[protocol.name].description}"
    about = {"protocol": protocol.name, "property": property_}
    return case_of_witness(witness, f"{protocol.name} {property_}", why, found | about)


def case_of_witness(witness: Witness, name: str, why: str, provenance: dict[str, Any]) -> Case:
    """Return the case of a witness, which expects the results of the witness. `name` becomes its id."""
    runs = witness.runs
    return Case(
        id=re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"),
        why=why,
        settings=witness.settings,
        events=witness.schedule,
        expect={name: Expectation(tuple(run.broken), run.at) for name, run in runs.items()},
        provenance=provenance | {"fingerprint": {name: run.fingerprint for name, run in runs.items()}},
    )
