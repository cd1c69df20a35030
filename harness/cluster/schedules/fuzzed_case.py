"""Convert findings of random schedules on a cluster to cases."""

from epochfuzz.harness.cases.case import Case, Expectation
from epochfuzz.harness.cluster.schedules.fuzzed import ClusterFinding
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


def case_of(finding: ClusterFinding, protocol: Protocol, settings: Configuration, seed: int) -> Case:
    """Return a finding as a case. The expectation is the model's result."""
    run = replay(finding.events, protocol, settings)
    name = protocol.name
    return Case(
        id=f"cluster-{finding.ended.lower()}-{seed}-{finding.number}",
        why=(
            f"Found on a cluster of {name}, by a random schedule: {finding.ended}."
            f" {finding.why}. In the model: {finding.model}."
        ),
        settings=settings,
        events=finding.events,
        expect={name: Expectation(tuple(run.broken), run.at, tuple(run.permitted) or None)},
        provenance={
            "seed": seed,
            "schedule": finding.number,
            "shrunk_from": finding.shrunk_from,
            "certified_minimal": False,
            "fingerprint": {name: run.fingerprint},
        },
    )
