"""Fix Kafka's loss of records after a re-election: change a method's bytecode, and load its class before the jars."""

import os
import subprocess
from enum import StrEnum
from pathlib import Path

from epochfuzz.harness.cluster.broker.installation import Installation, cache, locked, resolve
from epochfuzz.harness.cluster.broker.tools import tool
from epochfuzz.harness.cluster.errors import ClusterError

_JAVA = Path(__file__).parents[1] / "java"
PROGRAM = _JAVA / "Repair.java"  # writes the repairs of Repair


class Repair(StrEnum):
    """Two alternative fixes of Kafka's loss of records after a re-election.

    A leader forgets the state of its followers at every new leader epoch, or only if the leader is new or has missed a
    leader epoch.
    """

    EVERY_EPOCH = "every-epoch"  # Replica.resetReplicaState: at every new leader epoch
    MISSED_EPOCH = "missed-epoch"  # Partition.makeLeader: if the leader is new or missed an epoch (KAFKA-7164)


def repaired(kafka: Installation, repair: str, directory: Path, program: Path = PROGRAM) -> Installation:
    """Write the fixed class into a directory, and return an installation that loads this class. Raises ClusterError.

    `program` is a Java program that writes the class. Its arguments are the name of the repair and the directory.
    """
    tool("javac")  # java compiles a single-file program when it runs it (JEP 330)
    with locked(cache() / "javassist") as kept:
        listed = kept / "classpath"
        if not listed.exists() or not Path(listed.read_text().strip()).exists():
            resolve("Javassist", _JAVA / "pom.xml", listed, {})
        javassist = listed.read_text(encoding="utf-8").strip()
    path = os.pathsep.join([javassist, *kafka.class_path])
    command = [tool("java"), "-cp", path, str(program), str(repair), str(directory)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode != 0:
        raise ClusterError(
            f"Kafka {kafka.release} cannot be repaired by --repair {repair}: {ended.stdout.strip()[-800:]}"
        )
    return kafka.preceded_by(directory)
