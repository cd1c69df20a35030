"""The peer of the benchmark behaves as the model. Otherwise the benchmark would not be fair."""

import pytest

from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.lab.bench import peer
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import VERBS, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

KIP_320 = parse_protocol("kip-320")


def run_peer(schedule, replicas):
    partition = peer.PeerPartition(replicas)
    applied, broken = peer.run(partition, [(VERBS[verb_of(event)], replica_of(event)) for event in schedule])
    return partition, applied, broken


def observed(partition):
    return [
        {
            "up": replica.up,
            "hw": replica.high_watermark,
            "log": [[f"m{record.number}", record.epoch] for record in replica.log],
            "epochs": [list(entry) for entry in replica.epochs],
            "leader_epoch": replica.epoch if replica.up and replica.epoch != -1 else None,
        }
        for replica in partition.replicas
    ]


@pytest.mark.parametrize("replicas", [2, 3])
def test_the_peer_ends_every_schedule_as_the_model_does(replicas):
    settings = Configuration(replicas=replicas)
    walker = Walker([KIP_320], settings, 5)
    for number in range(60):
        run = replay(walker.schedule(number), KIP_320, settings)
        partition, applied, broken = run_peer(walker.schedule(number), replicas)
        model = observe(run.steps[-1].state)
        assert applied == sum(step.applied for step in run.steps)
        assert broken == set(run.broken) == set()
        for mine, theirs in zip(observed(partition), model["replicas"].values(), strict=True):
            assert mine == {key: theirs[key] for key in mine}
        assert sorted(partition.decisions[-1].isr) == ["ABC".index(name) for name in model["controller"]["isr"]]
        assert partition.converges()


def committed():
    partition = peer.PeerPartition(2)
    script = [("produce", 0), *[("fetch", 1), ("receive", 1)] * 2]
    assert peer.run(partition, script) == (5, set())
    return partition


def test_the_peer_detects_a_lost_record():
    partition = committed()
    partition.replicas[0].log.clear()
    assert partition.broken() == {
        "no-committed-loss",
        "no-acked-loss",
        "hw-within-log",
        "no-divergence",
        "isr-complete",
    }


def test_the_peer_detects_two_records_at_the_same_offset():
    partition = committed()
    partition.replicas[1].log[0] = peer.PeerRecord(7, 0)
    assert partition.broken() == {"no-divergence", "log-matching", "isr-complete"}


def test_the_peer_detects_logs_that_never_converge():
    partition = committed()
    partition.replicas[1].log.append(peer.PeerRecord(7, 0))
    partition.replicas[1].high_watermark = 2
    partition.replicas[0].log.append(peer.PeerRecord(8, 0))
    assert not partition.converges()
