"""The same schedule gives the same run: in every process, under every hash seed, compiled or interpreted."""

import json
import os
import subprocess
import sys

import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary import state
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS

LOSS = parse_schedule(
    ["produce A", "fetch B", "receive B", "fetch B", "crash B", "restart B", "elect B", "notify B", "notify B"]
)

# Written down once; a change means that a rule of the model, or what can be observed of it, has changed.
FINGERPRINTS = {
    "hw": "3bf50ec8b0df5530",
    "kip-101": "1b0fd87458ada9c3",
    "kip-279": "1b0fd87458ada9c3",
    "kip-320": "8266cc34b4714de5",  # `restart B` ends B's session first (KIP-380), and B cannot be elected any more
    "kip-497": "31e3c42b1f3a246f",
    "kip-595": "31e3c42b1f3a246f",
    "kip-841": "647c62b3c57dfdb3",  # B starts, but the controller registers it only after its former session
    "kip-903": "647c62b3c57dfdb3",
    "min-isr-gate": "647c62b3c57dfdb3",
    "kip-966": "0c84a07da5f0023c",
}

FUZZ = [
    "-c",
    "from epochfuzz.harness.cli.main import main; main()",
    "fuzz",
    "-p",
    "hw",
    "--schedules",
    "3000",
    "--seed",
    "5",
]


@pytest.mark.parametrize("name", GENERATIONS)
def test_the_fingerprint_of_a_run_is_written_down(name):
    assert replay(LOSS, GENERATIONS[name], Configuration()).fingerprint == FINGERPRINTS[name]


def test_another_event_gives_another_fingerprint():
    protocol = GENERATIONS["hw"]
    prints = {replay(LOSS[:end], protocol, Configuration()).fingerprint for end in range(len(LOSS) + 1)}
    assert len(prints) == len(LOSS) + 1


@pytest.mark.thorough
def test_processes_with_other_hash_seeds_find_the_same():
    found = []
    for hash_seed in ("0", "4242"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        ended = subprocess.run(
            [sys.executable, *FUZZ, "--json"], capture_output=True, text=True, env=environment, timeout=300
        )
        document = json.loads(ended.stdout)
        found.append((document["events"], document["goals"], document["findings"]))
    assert found[0] == found[1]
    assert found[0][2]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["hw", "kip-101", "kip-279"])
def test_what_compiled_search_found_interpreted_replay_confirms(name):
    for property_ in ("no-committed-loss", "no-divergence", "isr-complete", "convergence"):
        wanted = properties.named(property_).bit
        shortest = explore(GENERATIONS[name], Configuration(records=3, epochs=3), wanted).shortest
        assert shortest is not None
        assert replay(shortest, GENERATIONS[name], Configuration()).first_broken[property_] == len(shortest)


def test_a_state_is_the_same_compiled_and_interpreted():
    p = replay(LOSS, GENERATIONS["kip-320"], Configuration()).steps[-1].state
    again = state.Partition.from_record(p.to_record())
    assert all(getattr(p, field.name) == getattr(again, field.name) for field in state.TABLE.fields)
