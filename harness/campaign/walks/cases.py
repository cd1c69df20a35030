"""Cases: a finding as a case file, to replay, to look at, and to keep in a corpus."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyspark.sql import is_remote

from epochfuzz.harness.campaign.directory import Directory
from epochfuzz.harness.campaign.parameters import Parameters
from epochfuzz.harness.cases import found_case
from epochfuzz.harness.cases.case import Case, dump_case
from epochfuzz.harness.search.findings import Finding


def case_for(finding: Finding, parameters: Parameters) -> Case:
    """The case of a finding under every protocol of the campaign."""
    return found_case.case_for(finding, parameters.seed, "A campaign")


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
