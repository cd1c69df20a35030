"""Build the adapter for a version of Liftbridge, once: Go fetches Liftbridge's module, and compiles it with our files.

The module is copied first, because our files must be in its packages to call functions that are not exported.
"""

import hashlib
import json
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

from epochfuzz.harness.cluster.broker.installation import locked
from tests.systems import golang
from tests.systems.system import BuildError, System

HERE = Path(__file__).parent
TARGET = HERE / "target"
MODULE = "github.com/liftbridge-io/liftbridge"
VERSIONS = ("1.9.0",)
_OURS = HERE / "go"

# Repairs that confirm the causes of findings. Each entry replaces a text of Liftbridge's source by another.
_LOG = "commitlog/commitlog.go"
REPAIRS = {
    "epoch-start": (
        (_LOG, "Assign(epoch, l.NewestOffset())", "Assign(epoch, l.NewestOffset()+1)"),
        (_LOG, "offset = l.activeSegment().NextOffset() - 1\n", "return l.activeSegment().NextOffset() - 1\n"),
        (_LOG, "return offset\n}\n\n// LastLeaderEpoch", "return offset - 1\n}\n\n// LastLeaderEpoch"),
    ),
    "followers-forgotten": (
        (
            "partition.go",
            "\trep.updateLatestOffset(p.log.NewestOffset())\n",
            "\tfor name := range p.isr {\n\t\tp.isr[name] = &replica{offset: -1}\n\t}\n"
            "\trep = p.isr[p.srv.config.Clustering.ServerID]\n\trep.updateLatestOffset(p.log.NewestOffset())\n",
        ),
    ),
}


def command(version: str, repair: str | None = None) -> list[str]:
    """Build the adapter for a version if necessary, and return its command. Raises BuildError."""
    if version not in VERSIONS:
        raise BuildError(f"there is no subject for Liftbridge {version}; the versions are {', '.join(VERSIONS)}")
    target = TARGET / (version if repair is None else f"{version}-{repair}")
    with locked(target):
        stamp = target / "stamp"
        wanted = _digest()
        if not stamp.exists() or stamp.read_text() != wanted:
            _build(version, repair, target)
            stamp.write_text(wanted)
    return [str(target / "subject"), "-test.run=^TestSubject$"]


def _build(version: str, repair: str | None, target: Path) -> None:
    for lack in golang.missing():
        raise BuildError(lack)
    print(f"building the subject for Liftbridge {version}, two minutes the first time ...", file=sys.stderr, flush=True)
    fetched: dict[str, Any] = json.loads(golang.run("mod", "download", "-json", f"{MODULE}@v{version}", at=target))
    source = target / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(Path(fetched["Dir"]) / "server", source / "server", ignore=shutil.ignore_patterns("*_test.go"))
    for name in ("go.mod", "go.sum"):
        shutil.copy(Path(fetched["Dir"]) / name, source)
    for path in [source, *source.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)  # Go keeps its modules read-only
    shutil.copytree(_OURS, source, dirs_exist_ok=True)
    for name, theirs, repaired in REPAIRS[repair] if repair is not None else ():
        file = source / "server" / name
        text = file.read_text()
        if text.count(theirs) != 1:
            raise BuildError(f"{name} of Liftbridge {version} is not what the repair {repair} is for")
        file.write_text(text.replace(theirs, repaired))
    release = ".".join(map(str, golang.RELEASE))
    golang.run("mod", "edit", f"-go={release}", at=source)  # otherwise its timers are those of Go 1.22
    golang.run("test", "-c", "-vet=off", "-o", str(target / "subject"), "./server", at=source)


def _digest() -> str:
    """Return the digest of everything that a build depends on, except for the modules that Go fetches."""
    digest = hashlib.blake2b(digest_size=16)
    for file in [Path(__file__), *sorted(_OURS.rglob("*.go"))]:
        digest.update(str(file.relative_to(HERE)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


SYSTEMS = tuple(
    System(f"liftbridge-{version}", "tests.systems.liftbridge", version, golang.missing, partial(command, version))
    for version in VERSIONS
)
