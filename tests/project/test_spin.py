"""The Spin model of the benchmark has the behaviour of kip-320. Otherwise the benchmark would not be fair."""

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
def test_spin_visits_as_many_states_and_transitions_as_the_model(settings):
    verified = spin.searched(settings)
    found = explore(GENERATIONS["kip-320"], settings, 0, symmetric=False)
    assert (verified.states, verified.transitions) == (found.states, found.transitions)
    assert verified.failure is None


def test_spin_finds_a_mutant_in_as_few_events_as_the_model():
    proof = proofs()["truncates-to-high-watermark"]
    assert spin.searched(proof.settings, truncates_to_high_watermark=True).failure == len(proof.shortest) == 7


@pytest.mark.slow
def test_a_random_search_of_spin_finds_no_violation_in_larger_bounds():
    verified = spin.walked(Configuration(replicas=3), events=300, seed=1, seconds=1)
    assert verified.failure is None
    assert verified.transitions > 1_000
