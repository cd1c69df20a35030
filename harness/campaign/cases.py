"""Cases: a finding as a case file, to replay, to look at, and to keep in a corpus."""

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyspark.sql import is_remote

from harness import narrative
from harness.campaign.directory import Directory
from harness.campaign.parameters import Parameters
from harness.case import Case, Expectation, dump_case
from harness.fuzz import Finding
from harness.replay import replay


def case_for(finding: Finding, parameters: Parameters) -> Case:
    """The case of a finding: what its schedule does under every protocol of the campaign, and why."""
    schedule, settings = finding.reproducer.schedule, parameters.settings
    runs = {protocol.name: replay(schedule, protocol, settings) for protocol in parameters.protocols}
    story = narrative.narrate(runs[finding.protocol.name])[1:]
    return Case(
        id=re.sub(r"[^a-z0-9]+", "-", f"{finding.protocol.name} {finding.property}"),
        why=" ".join(
            [
                f"A campaign found that {finding.protocol.name} breaks {finding.property}.",
                *(f"({scene.number}) {scene.sentence}" for scene in story),
            ]
        ),
        settings=settings,
        events=schedule,
        expect={name: Expectation(tuple(run.broken), run.at) for name, run in runs.items()},
        provenance={
            "seed": parameters.seed,
            "schedule": finding.schedule,
            "shrunk_from": finding.shrunk_from,
            "certified_minimal": finding.reproducer.certified_minimal,
            "protocol": finding.protocol.name,
            "property": finding.property,
            "fingerprint": {name: run.fingerprint for name, run in runs.items()},
        },
    )


def write(cases: Iterable[Case], directory: Directory) -> None:
    """Write case files beside the tables, where those are on this machine. Elsewhere the table of findings has them."""
    place = local_directory(directory.uri)
    if place is not None:
        place.mkdir(exist_ok=True)
        for case in cases:
            (place / f"{case.id}.yaml").write_text(dump_case(case), encoding="utf-8")


def local_directory(uri: str) -> Path | None:
    """Where the case files of a campaign are; None where its directory is not on this machine."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path), "cases") if parts.scheme in ("", "file") and not is_remote() else None
