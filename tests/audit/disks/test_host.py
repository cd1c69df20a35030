"""`audit.pyz`: a single file that needs only Python, with the findings of the command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from epochfuzz.harness.audit.packing import pack
from tests.audit.disks.disk_sets import unpacked
from tests.audit.telling import LOGS


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("packed") / "audit.pyz"
    pack(target)
    return target


def run(packed: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run the packed audit with a Python that sees the standard library alone."""
    command = [sys.executable, "-I", "-S", str(packed), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=packed.parent)


@pytest.mark.parametrize("logs", ["", "unclean-3.9.2"], ids=["disks", "disks and logs"])
def test_audit_pyz_prints_the_findings_of_the_command(packed, epochfuzz, tmp_path, logs):
    paths = [LOGS / logs] if logs else [unpacked("unclean-3.9.2", tmp_path)]
    here, there = epochfuzz("audit", *paths, "--no-spark", "--json"), run(packed, "--json", *paths)
    mine, theirs = json.loads(here.out), json.loads(there.stdout)
    for document in (mine, theirs):
        document["seconds"] = 0
        for finding in document["findings"]:
            finding["explained"] = None

    assert (here.code, mine) == (there.returncode, theirs)
    assert mine["findings"]


def test_audit_pyz_prints_the_verdict_first(packed, tmp_path):
    ended = run(packed, unpacked("unclean-3.9.2", tmp_path))

    verdict, partition = ended.stdout.splitlines()[:2]
    assert verdict.startswith("lost: committed records of 1 partition are gone (30 records); 2 findings")
    assert partition.startswith("  t-0: offsets 20 to 49, 30 records, unclean election, 2026-11-25 ")


def test_audit_pyz_is_inconclusive_for_disks_alone(packed, tmp_path):
    ended = run(packed, unpacked("kept-4.3.1", tmp_path))

    assert ended.returncode == 4
    assert ended.stdout.startswith("inconclusive: ")


WRONG = [("missing", "there is no such file"), ("s3://bucket/logs", "is a URL, but audit.pyz reads only files")]


@pytest.mark.parametrize(("path", "said"), WRONG)
def test_audit_pyz_exits_with_2_and_a_message_for_wrong_input(packed, path, said):
    ended = run(packed, path)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_audit_pyz_prints_no_escape_sequence_of_a_hostile_directory(packed, tmp_path):
    directory = tmp_path / "\x1b[31m-red"
    (directory / "t-0").mkdir(parents=True)
    (directory / "t-0" / "leader-epoch-checkpoint").write_text("\x1b[2J")

    assert "\x1b" not in run(packed, directory).stdout


def test_audit_pyz_names_the_required_version_if_python_is_too_old(packed):
    older = "import sys, runpy; sys.version_info = (3, 9, 2); runpy.run_path(sys.argv[1], run_name='__main__')"
    command = [sys.executable, "-I", "-S", "-c", older, str(packed)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("audit.pyz: needs Python 3.11 or later, but ")
    assert " is 3.9; run it with a later Python" in ended.stderr
    assert "Traceback" not in ended.stderr
