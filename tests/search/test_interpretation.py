"""With NUMBA_DISABLE_JIT, kernels run as Python and give equal results."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from epochfuzz.harness.engine.runtime.numba_disabled import interpreted

# Prints the results of a few schedules and a small search.
SCRIPT = """
import json
from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

hw, latest = parse_protocol("hw"), parse_protocol("kip-320")
tally = Walker([hw, latest], Configuration(replicas=3, power_loss=True), 7).walk(0, 4)
searched = explore(hw, Configuration().bounded_by(4), properties.named("isr-complete").bit, depth=4, holding=[latest])
request = explore(parse_protocol("kip-966"), Configuration(records=1, epochs=1), 0, depth=3)  # has keys of all bits
print(json.dumps([
    tally.events.tolist(), tally.failures.nonzero()[0].tolist(), tally.shortest.tolist(), tally.goals.tolist(),
    [list(met.rows()) for met in tally.met], searched.states, searched.transitions,
    request.states, request.transitions,
]))
"""


def printed(command, **environment):
    ended = subprocess.run(
        [sys.executable, *command], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in ended.stderr
    return ended


@pytest.mark.thorough
def test_random_runs_and_searches_give_equal_results_without_compilation():
    compiled = printed(["-c", SCRIPT])
    interpreted_ = printed(["-c", SCRIPT], NUMBA_DISABLE_JIT="1")
    assert json.loads(interpreted_.stdout) == json.loads(compiled.stdout)
    assert "NUMBA_DISABLE_JIT is set, so nothing is compiled and runs are slow" in interpreted_.stderr


@pytest.mark.slow
def test_fuzz_gives_equal_results_without_compilation():
    fuzz = ["-m", "epochfuzz", "fuzz", "--protocol", "hw", "--schedules", "40", "--seed", "7", "--json"]
    compiled, interpreted_ = printed(fuzz), printed(fuzz, NUMBA_DISABLE_JIT="1")
    assert interpreted_.returncode == compiled.returncode
    found, expected = json.loads(interpreted_.stdout), json.loads(compiled.stdout)
    assert expected["findings"]
    for key in ("findings", "events", "goals", "unmet_goals"):
        assert found[key] == expected[key], key


def test_interpreted_kernels_compute_without_overflow_and_write_to_their_arrays():
    @interpreted
    def kernel(narrow, pair):
        first, _ = pair
        narrow[1] = narrow[0] >> 1
        first[0, 1] = narrow[1]
        return narrow[0] + narrow[0], 24_608 >> narrow[0], [value + 200 for value in narrow]

    narrow, other = np.array([200, 0], np.uint8), np.zeros((1, 2), np.int8)
    assert kernel(narrow, (other, 7)) == (400, 0, [400, 300])
    assert narrow.tolist() == [200, 100]
    assert other.tolist() == [[0, 100]]


@pytest.mark.thorough
def test_fuzz_without_compilation_shows_findings_and_ends_proofs_in_time():
    words = [
        "-m",
        "epochfuzz",
        "fuzz",
        "--protocol",
        "hw",
        "--schedules",
        "30",
        "--seed",
        "1",
        "--certify",
        "10s",
        "--json",
    ]
    ended = printed(words, NUMBA_DISABLE_JIT="1")
    assert ended.returncode == 0
    found = json.loads(ended.stdout)["findings"]
    assert found
    assert all(0 < each["searched"] <= each["length"] for each in found)
