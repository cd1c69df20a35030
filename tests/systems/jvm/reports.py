"""Run the failing tests of the reports to a system that runs in a JVM."""

import subprocess
from pathlib import Path


def run_tests(reports: Path, *options: str) -> tuple[str, list[str]]:
    """Let Maven run the tests in a directory. Returns the output, and the lines of Surefire's summary of failures."""
    command = ["mvn", "--batch-mode", "-ntp", "test", *options]
    output = subprocess.run(command, cwd=reports, capture_output=True, text=True, check=False).stdout
    return output, [line for line in output.splitlines() if line.startswith("[ERROR]   ")]
