"""A finding as a case: to replay, to look at, and to keep in a corpus."""

import re
from collections.abc import Sequence

from epochfuzz.harness.cases.case import Case, Expectation
from epochfuzz.harness.search.findings import Finding
from epochfuzz.harness.witness import scenes as narrative
from epochfuzz.harness.witness.replay import replay
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.protocols import Protocol


def case_for(finding: Finding, protocols: Sequence[Protocol], settings: Configuration, seed: int, who: str) -> Case:
    """The case of a finding: what its schedule does under every protocol of the walk, and why.

    `who` found it, as in `A campaign`.
    """
    schedule = finding.reproducer.schedule
    runs = {protocol.name: replay(schedule, protocol, settings) for protocol in protocols}
    story = narrative.narrate(runs[finding.protocol.name])[1:]
    return Case(
        id=re.sub(r"[^a-z0-9]+", "-", f"{finding.protocol.name} {finding.property}"),
        why=" ".join(
            [
                f"{who} found that {finding.protocol.name} breaks {finding.property}.",
                *(f"({scene.number}) {scene.sentence}" for scene in story),
            ]
        ),
        settings=settings,
        events=schedule,
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
