"""A verb or a property needs only its declaration: all other code follows from the declaration."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from epochfuzz.harness.engine.walk import generate
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, event_text, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import NAMED, Protocol

ROOT = Path(__file__).parents[2]
CHECKS = Path(__file__).with_name("with_one_more.py")

VERB = f"""
    REAPPOINT = _Verb(
        {len(Verb)},
        "controller.controller",
        "the controller opens a leader epoch with the replica, which leads, as its leader",
        dealt=4,
        opens_epoch=_always,
        heals=Heals.RETURN,
    )
"""

RULE = '''

def reappoint(p: State, r: int) -> int:
    """r leads, and the controller makes it leader once more."""
    if p.controller_epoch >= p.epochs:
        return Refusal.EPOCHS_BOUND
    if r != leader(p):
        return Refusal.DOES_NOT_LEAD
    decide(p, r, isr(p))
    return APPLIED
'''

PREDICATE = '''def written(p: State) -> bool:
    """A record is in the log of one of two replicas."""
    return p.leo[0] + p.leo[1] > 0


'''

PROPERTY = """    Property(
        "nothing-written",
        written,
        lambda p: iter(["a record is in a log"]),
        "RecordWritten",
        permitted=lambda settings: settings.acks == "1",
        seen_in=("replicas.log",),
    ),
"""


@pytest.fixture(scope="module")
def with_one_more(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project that declares a further verb and a further property."""
    copy = tmp_path_factory.mktemp("copy")
    for folder in ("model", "harness", "strategies", "src"):
        shutil.copytree(ROOT / folder, copy / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    declare(copy / "model" / "kafka" / "vocabulary" / "events.py", VERB, before="\n    @property\n    def text(self)")
    declare(copy / "model" / "kafka" / "contract" / "properties.py", PREDICATE, before="def unanswered(")
    declare(copy / "model" / "kafka" / "contract" / "properties.py", PROPERTY, before=")\nNAMES =")
    with (copy / "model" / "kafka" / "controller" / "controller.py").open("a") as rules:
        rules.write(RULE)
    return copy


def declare(file: Path, text: str, before: str) -> None:
    source = file.read_text()
    assert source.count(before) == 1
    file.write_text(source.replace(before, text + before))


@pytest.mark.thorough
def test_a_new_verb_and_a_new_property_need_only_their_declarations(with_one_more: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", "--noconftest", str(CHECKS)],
        env=os.environ | {"PYTHONPATH": str(with_one_more / "src"), "NUMBA_DISABLE_JIT": "1"},
        cwd=with_one_more,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout


def test_exactly_the_verbs_that_open_a_leader_epoch_declare_opens_epoch() -> None:
    """Compare the declarations with the epochs that random schedules of all protocols open."""
    undeclared: set[str] = set()
    seen: set[Verb] = set()
    for settings in (Configuration(epochs=4), Configuration(epochs=4, controllers=2)):
        for protocol in NAMED.values():
            for event, declared in opening(protocol, settings):
                seen.add(verb_of(event))
                if not declared:
                    undeclared.add(f"{event_text(event)} under {protocol.name}")
    assert not undeclared
    two_controllers = [Execution(protocol, settings).state for protocol in NAMED.values()]
    assert seen == {verb for verb in Verb if any(map(verb.opens_epoch, two_controllers))}


def opening(protocol: Protocol, settings: Configuration) -> Iterator[tuple[int, bool]]:
    """Yield each event that opened a leader epoch, and whether its verb declares that the event may."""
    deck = generate.deck_for(KAFKA, settings, [protocol])
    for number in range(60):
        execution = Execution(protocol, settings)
        for event in generate.schedule(7, number, deck):
            epoch = execution.state.controller_epoch
            if execution.apply(event) and execution.state.controller_epoch > epoch:
                yield event, verb_of(event).opens_epoch(execution.state)
