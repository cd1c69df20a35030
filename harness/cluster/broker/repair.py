"""Fix Kafka's loss of records after a re-election: change a method's bytecode, and load its class before the jars."""

import argparse
import os
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

from epochfuzz.harness.cluster.broker.installation import (
    DEFAULT_RELEASE,
    Installation,
    cache,
    from_maven,
    locked,
    resolve,
)
from epochfuzz.harness.cluster.broker.tools import tool
from epochfuzz.harness.cluster.errors import ClusterError

_JAVA = Path(__file__).parents[1] / "java"


class Repair(StrEnum):
    """Two alternative fixes of Kafka's loss of records after a re-election.

    A leader forgets the state of its followers at every new leader epoch, or only if the leader is new or has missed a
    leader epoch.
    """

    EVERY_EPOCH = "every-epoch"  # Replica.resetReplicaState: at every new leader epoch
    MISSED_EPOCH = "missed-epoch"  # Partition.makeLeader: if the leader is new or missed an epoch (KAFKA-7164)


def repaired(kafka: Installation, repair: Repair, directory: Path) -> Installation:
    """Write the fixed class into a directory, and return an installation that loads this class. Raises ClusterError."""
    tool("javac")  # java compiles a single-file program when it runs it (JEP 330)
    with locked(cache() / "javassist") as kept:
        listed = kept / "classpath"
        if not listed.exists() or not Path(listed.read_text().strip()).exists():
            resolve("Javassist", _JAVA / "pom.xml", listed, {})
        javassist = listed.read_text(encoding="utf-8").strip()
    path = os.pathsep.join([javassist, *kafka.class_path])
    command = [tool("java"), "-cp", path, str(_JAVA / "Repair.java"), repair.value, str(directory)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode != 0:
        raise ClusterError(
            f"Kafka {kafka.release} cannot be repaired by --repair {repair}: {ended.stdout.strip()[-800:]}"
        )
    return kafka.preceded_by(directory)


def main() -> None:
    """Write the fixed bytecode of a Kafka class into a directory, for your own tests."""
    parser = argparse.ArgumentParser(prog="python -m epochfuzz.harness.cluster.broker.repair", description=main.__doc__)
    parser.add_argument("repair", type=Repair, choices=list(Repair))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--release", default=DEFAULT_RELEASE)
    given = parser.parse_args()
    try:
        repaired(from_maven(given.release), given.repair, given.directory)
    except ClusterError as error:
        sys.exit(f"{parser.prog}: {error}")


if __name__ == "__main__":
    main()
