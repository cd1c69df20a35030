"""A finding as a case: to replay, to look at, and to keep in a corpus."""

import re

from epochfuzz.harness.cases.case import Case, Expectation
from epochfuzz.harness.search.findings import Finding


def case_for(finding: Finding, seed: int, who: str) -> Case:
    """The case of a finding: what its schedule does under every protocol of the walk, and why.

    `who` found it, as in `A campaign`.
    """
    runs = finding.witness.runs
    return Case(
        id=re.sub(r"[^a-z0-9]+", "-", f"{finding.protocol.name} {finding.property}"),
        why=f"{who} found that {finding.protocol.name} breaks {finding.property}. {runs[finding.protocol.name].told}",
        settings=finding.witness.settings,
        events=finding.witness.schedule,
        expect={name: Expectation(tuple(run.broken), run.at) for name, run in runs.items()},
        provenance={
            "seed": seed,
            "schedule": finding.schedule,
            "shrunk_from": finding.shrunk_from,
            "certified_minimal": finding.reproducer.certified_minimal,
            "protocol": finding.protocol.name,
            "property": finding.property,
            "fingerprint": {name: run.fingerprint for name, run in runs.items()},
        },
    )
