"""A schedule gives equal runs in every process, under every hash seed, compiled or interpreted."""

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

# Recorded once. A difference means that a rule of the model or its observation has changed.
FINGERPRINTS = {
    "hw": "3bf50ec8b0df5530",
    "kip-101": "1b0fd87458ada9c3",
    "kip-279": "1b0fd87458ada9c3",
    "kip-320": "8266cc34b4714de5",  # `restart B` ends B's session first (KIP-380), so B can no longer be elected
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
def test_a_run_has_the_recorded_fingerprint(name):
    assert replay(LOSS, GENERATIONS[name], Configuration()).fingerprint == FINGERPRINTS[name]


def test_each_event_changes_the_fingerprint():
    protocol = GENERATIONS["hw"]
    prints = {replay(LOSS[:end], protocol, Configuration()).fingerprint for end in range(len(LOSS) + 1)}
    assert len(prints) == len(LOSS) + 1


@pytest.mark.thorough
def test_the_results_of_fuzz_do_not_depend_on_the_hash_seed():
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
def test_interpreted_replay_confirms_schedules_that_compiled_search_found(name):
    for property_ in ("no-committed-loss", "no-divergence", "isr-complete", "convergence"):
        wanted = properties.named(property_).bit
        shortest = explore(GENERATIONS[name], Configuration(records=3, epochs=3), wanted).shortest
        assert shortest is not None
        assert replay(shortest, GENERATIONS[name], Configuration()).first_broken[property_] == len(shortest)


def test_the_final_state_of_a_run_survives_conversion_to_a_record_and_back():
    p = replay(LOSS, GENERATIONS["kip-320"], Configuration()).steps[-1].state
    again = state.Partition.from_record(p.to_record())
    assert all(getattr(p, field.name) == getattr(again, field.name) for field in state.TABLE.fields)
