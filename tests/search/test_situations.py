"""Situations: their descriptions, and the reachable situations that a random run has not met."""

from epochfuzz.harness.campaign.walks.coverage import in_words
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.findings.unreached import reachable
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import situations
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

HW = parse_protocol("hw")


def situation_after(*events, protocol=HW):
    """Return the situation of the last event, in words."""
    execution = Execution(protocol, Configuration(replicas=3))
    *schedule, last = parse_schedule(events)
    assert all(map(execution.apply, schedule))
    before = situations.before(execution.state, replica_of(last))
    assert execution.apply(last)
    return situations.describe(situations.situation(execution.state, last, before))


def test_a_situation_describes_a_truncation_to_a_trailing_high_watermark():
    lost = situation_after("produce A", "fetch B", "receive B", "crash B", "restart B", "notify B")
    assert lost["event"] == "notify"
    assert lost["role"] == "leaderless replica"
    assert lost["decision"] == "the one before"
    assert lost["high watermark before"] == "HW below its LEO"
    assert lost["log end offset"] == "LEO goes back"
    assert lost["log"] == "shorter than the leader's"


def test_a_situation_describes_a_write_to_a_stale_leader():
    stale = situation_after("elect B", "elect C", "produce A")
    assert (stale["role"], stale["decision"]) == ("zombie", "an older one, or none")
    assert stale["log end offset"] == "LEO advances"


def test_the_situation_of_an_election_shows_the_update_known_before_the_election():
    assert situation_after("elect B")["decision"] == "the current one"


def test_a_situation_distinguishes_a_dead_replica_from_a_leaderless_replica():
    assert situation_after("crash C", "restart C")["role"] == "dead replica"
    leaderless = situation_after("expire A", "notify C", "crash C", protocol=parse_protocol("hw:leaderless=obeyed"))
    assert leaderless["role"] == "leaderless replica"


def test_the_aspects_of_a_situation_fill_its_bits_without_gaps():
    top = situations.ASPECTS[-1]
    assert len(top.values) << top.shift == situations.SITUATIONS
    ends = [aspect.shift + aspect.bits for aspect in situations.ASPECTS[:-1]]
    assert ends == [aspect.shift for aspect in situations.ASPECTS[1:]]
    assert situations.kind_of(situations.SITUATIONS - 1) == situations.KINDS - 1


def test_a_longer_random_run_leaves_fewer_reachable_situations_unmet():
    within = reachable(HW, Configuration(replicas=3))
    assert within.complete
    few = set(Walker([HW], Configuration(replicas=3), 1).walk(0, 50).met[0].situations.tolist())
    many = set(Walker([HW], Configuration(replicas=3), 1).walk(0, 20_000).met[0].situations.tolist())
    assert len(within.situations - few) > len(within.situations - many)


def test_in_words_describes_a_situation_in_one_line():
    execution = Execution(HW, Configuration())
    (event,) = parse_schedule(["crash A"])
    before = situations.before(execution.state, 0)
    assert execution.apply(event)
    assert in_words(situations.situation(execution.state, event, before)) == (
        "crash at a leader that knows the current one, in the ISR, log as the leader's, HW at its LEO,"
        " in flight nothing: LEO stays, HW stays"
    )
