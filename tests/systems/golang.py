"""Go, for adapters that are written in Go."""

import shutil
import subprocess
from pathlib import Path

from tests.systems.system import BuildError

RELEASE = (1, 25)  # the first with testing/synctest
_WANTED = (
    "Go 1.25 or later: curl -LO https://go.dev/dl/go1.26.0.linux-amd64.tar.gz && "
    "sudo tar -C /usr/local -xzf go1.26.0.linux-amd64.tar.gz, and /usr/local/go/bin in PATH"
)


def missing() -> list[str]:
    """Return a sentence if Go is not installed, or is too old."""
    go = shutil.which("go")
    if go is None:
        return [f"go is missing; wanted is {_WANTED}"]
    found = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False).stdout.strip()
    numbers = tuple(int(part) for part in found.removeprefix("go").split(".")[:2] if part.isdigit())
    return [] if numbers >= RELEASE else [f"{go} is {found or 'no Go'}; wanted is {_WANTED}"]


def run(*arguments: str, at: Path) -> str:
    """Run a command of Go in a directory, and return its output. Raises BuildError."""
    done = subprocess.run(["go", *arguments], cwd=at, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip())[-4000:]
        raise BuildError(f"go {arguments[0]} could not build the adapter:\n{said}")
    return done.stdout
