"""Pack the audit for a broker's host: `python -m epochfuzz.harness.audit.packing build/audit.pyz`."""

import shutil
import sys
import tempfile
import zipapp
from pathlib import Path

from epochfuzz.harness.environment.bare_imports import imported_files

# An older Python can run this text too. It then names the version that is needed. Exit code 2 stands for wrong usage.
_MAIN = """import sys
if sys.version_info < (3, 11):
    sys.stderr.write(
        "audit.pyz: needs Python 3.11 or later, but %s is %d.%d; run it with a later Python, or copy the logs and disks"
        " to a host that has one\\n" % ((sys.executable,) + tuple(sys.version_info[:2]))
    )
    sys.exit(2)
from epochfuzz.harness.audit.host import main
sys.exit(main())
"""
_AUDIT = "epochfuzz/harness/audit"
_LEFT_OUT = {
    "on_spark.py",
    "tasks.py",
    "tables.py",
    "view.py",
    "packing.py",
    "told_case.py",
    "segments_on_spark.py",
}  # need packages that a host may not have, or are not used there


def pack(target: Path) -> None:
    """Write one file that Python can run: the modules of the audit that a host needs, and their imports."""
    source = Path(__file__).parents[3]  # the directory of the package epochfuzz
    files = imported_files("epochfuzz.harness.audit.host", source)
    files |= {file for file in (source / _AUDIT).rglob("*.py") if file.name not in _LEFT_OUT}
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        for file in sorted(files):
            copy = Path(directory, file.relative_to(source))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        Path(directory, "__main__.py").write_text(_MAIN)
        zipapp.create_archive(directory, target, interpreter="/usr/bin/env python3", compressed=True)


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
