"""Lockstep detects mistakes in the adapter itself, which would make Kafka look wrong or right."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.rerun import Rerun, rerun
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.kafka import ladder
from tests.conform.kafka.build import build_of
from tests.systems.jvm.build import HERE, command, missing

RELEASE = "2.8.1"
DISK_IS_COPIED = """        Disk image = node.disk.copyTo(freshDirectory());
        end(node);
"""
DISK_IS_TAKEN = "        node.disk = image;\n"
FORGOTTEN = """        gate.forget(node.id);
        node.heard.clear();
"""
STARTED = "node.broker = release.start("


def crash_that_forgets_nothing(cluster: str) -> str:
    """Return an adapter in which a restarted broker still has its memory of the time before the crash."""
    changed = cluster.replace(
        DISK_IS_COPIED, "        asleep.put(node.id, node.broker);\n        node.broker = null;\n"
    )
    changed = changed.replace(DISK_IS_TAKEN, "", 1)
    changed = changed.replace(
        STARTED, "node.broker = asleep.containsKey(node.id) ? asleep.remove(node.id) : release.start("
    )
    field = "    private final Map<Integer, Broker> asleep = new java.util.HashMap<>();\n\n    Cluster("
    return changed.replace("\n    Cluster(", "\n" + field, 1)


def crash_that_keeps_requests(cluster: str) -> str:
    """Return an adapter in which the requests of a crashed leader are still in flight."""
    return cluster.replace(FORGOTTEN, "")


def mutant(change: str, directory: Path) -> list[str]:
    """Return the command of an adapter whose Cluster.java was changed."""
    for lack in missing():
        pytest.skip(lack)
    build = build_of(RELEASE)
    build.class_path()  # fetches the jars
    original = HERE / "java" / "cluster" / "subject" / "Cluster.java"
    changed = globals()[change](original.read_text())
    assert changed != original.read_text()
    mutated = directory / "Cluster.java"
    mutated.write_text(changed)
    sources = [str(mutated if file == original else file) for file in build.sources]
    classes = directory / "classes"
    subprocess.run(
        ["javac", "-nowarn", "-d", str(classes), "-cp", build.jars(), *sources], check=True, capture_output=True
    )
    path = os.pathsep.join([str(classes), str(build.resources), build.jars()])
    return command(path, RELEASE)


def lock_step(command: list[str], schedule: str) -> Rerun:
    case = load_corpus(ladder.CORPUS)[0]
    case = replace(case, events=parse_schedule(schedule.split(", ")), settings=replace(case.settings, replicas=2))
    with CommandSubject(command, ladder.PATIENCE) as subject:
        return rerun(subject, case, parse_protocol("kafka-2.8.1"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "schedule", "field"),
    [
        ("crash_that_forgets_nothing", "produce A, crash A, restart A", "replicas.A.leader"),
        ("crash_that_keeps_requests", "produce A, shrink B, crash A, alter A", "applied"),
    ],
)
def test_lockstep_detects_an_adapter_whose_crash_keeps_memory_or_requests(
    change: str, schedule: str, field: str, tmp_path: Path
) -> None:
    differs = lock_step(mutant(change, tmp_path), schedule).differs
    assert differs is not None
    assert differs[1].field == field


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["produce A, crash A, restart A", "produce A, shrink B, crash A, alter A"])
def test_the_unchanged_adapter_agrees_with_the_model_on_the_schedules_of_the_mutants(
    schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    assert lock_step(command(build_of(RELEASE).class_path(), RELEASE), schedule).differs is None
