"""Spin's peer of the benchmark is the same protocol: it must not be fast or slow by doing something else."""

import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.lab.bench import spin
from epochfuzz.harness.lab.mutants.proofs import proofs
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS

pytestmark = pytest.mark.skipif(bool(spin.missing()), reason=f"not installed: {', '.join(spin.missing())}")

SEARCHED = [
    Configuration(records=2, epochs=2),
    pytest.param(Configuration(replicas=3, records=1, epochs=1), marks=pytest.mark.slow),
    pytest.param(Configuration(records=3, epochs=3), marks=pytest.mark.slow),
    pytest.param(Configuration(replicas=3, records=1, epochs=2), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("settings", SEARCHED, ids=Configuration.text)
def test_it_visits_as_many_states_by_as_many_transitions_as_the_model_does(settings):
    verified = spin.searched(settings)
    found = explore(GENERATIONS["kip-320"], settings, 0, symmetric=False)
    assert (verified.states, verified.transitions) == (found.states, found.transitions)
    assert verified.failure is None


def test_it_finds_a_mistake_in_as_few_events_as_the_model_does():
    proof = proofs()["truncates-to-high-watermark"]
    assert spin.searched(proof.settings, truncates_to_high_watermark=True).failure == len(proof.shortest) == 7


@pytest.mark.slow
def test_at_random_it_finds_nothing_wrong_in_larger_bounds():
    verified = spin.walked(Configuration(replicas=3), events=300, seed=1, seconds=1)
    assert verified.failure is None
    assert verified.transitions > 1_000
