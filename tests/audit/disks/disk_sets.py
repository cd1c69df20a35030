"""Recorded data directories, unpacked for a test, and the findings of an audit on them."""

import json
import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from epochfuzz.harness.audit.disks.disk_audit import DiskAudit, audit_disks
from epochfuzz.harness.audit.disks.found import disks_among

RECORDED = Path(__file__).parent / "recorded"
RUNS = sorted(file.name.removesuffix(".tar.xz") for file in RECORDED.glob("*.tar.xz"))


@dataclass(frozen=True)
class Truth:
    """The loss that clients saw: the first and last acknowledged offset that a consumer no longer finds."""

    lost: tuple[int, int] | None


@cache
def truth_of(run: str) -> Truth:
    with tarfile.open(RECORDED / f"{run}.tar.xz") as packed:
        member = packed.extractfile("truth.json")
        assert member is not None
        lost = json.load(member)["lost"]
    return Truth(tuple(lost) if lost else None)


def unpacked(run: str, directory: Path) -> Path:
    """Unpack the data directories of a run; returns the directory that holds them."""
    with tarfile.open(RECORDED / f"{run}.tar.xz") as packed:
        packed.extractall(directory, filter="data")
    return directory / "data"


def on_disk(*paths: Path) -> DiskAudit:
    return audit_disks(disks_among(map(str, paths)), lambda text: None)


def losses(audit: DiskAudit) -> list[tuple[str, int | None, int | None]]:
    found = (finding for finding in audit.findings if finding.what == "committed-loss")
    return [(finding.name, finding.first_offset, finding.last_offset) for finding in found]


def kinds(audit: DiskAudit) -> set[str]:
    return {str(finding.what) for finding in audit.findings}
