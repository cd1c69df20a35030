"""Situations: what they say, and which of them a walk has not reached."""

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
    """The situation of the last of some events, in words."""
    execution = Execution(protocol, Configuration(replicas=3))
    *schedule, last = parse_schedule(events)
    assert all(map(execution.apply, schedule))
    before = situations.before(execution.state, replica_of(last))
    assert execution.apply(last)
    return situations.describe(situations.situation(execution.state, last, before))


def test_a_cut_to_a_high_watermark_that_trails_is_shown_as_such():
    lost = situation_after("produce A", "fetch B", "receive B", "crash B", "restart B", "notify B")
    assert lost["event"] == "notify"
    assert lost["role"] == "leaderless replica"
    assert lost["decision"] == "the one before"
    assert lost["high watermark before"] == "HW below its LEO"
    assert lost["log end offset"] == "LEO goes back"
    assert lost["log"] == "shorter than the leader's"


def test_a_write_to_a_zombie_is_shown_as_such():
    zombie = situation_after("elect B", "elect C", "produce A")
    assert (zombie["role"], zombie["decision"]) == ("zombie", "an older one, or none")
    assert zombie["log end offset"] == "LEO advances"


def test_an_election_is_met_by_what_was_known_before_it():
    assert situation_after("elect B")["decision"] == "the current one"


def test_a_dead_replica_is_no_leaderless_one():
    assert situation_after("crash C", "restart C")["role"] == "dead replica"
    leaderless = situation_after("expire A", "notify C", "crash C", protocol=parse_protocol("hw:leaderless=obeyed"))
    assert leaderless["role"] == "leaderless replica"


def test_a_situation_fits_its_bits():
    top = situations.ASPECTS[-1]
    assert len(top.values) << top.shift == situations.SITUATIONS
    ends = [aspect.shift + aspect.bits for aspect in situations.ASPECTS[:-1]]
    assert ends == [aspect.shift for aspect in situations.ASPECTS[1:]]
    assert situations.kind_of(situations.SITUATIONS - 1) == situations.KINDS - 1


def test_what_small_bounds_reach_and_a_short_walk_did_not_is_shown():
    within = reachable(HW, Configuration(replicas=3))
    assert within.complete
    few = set(Walker([HW], Configuration(replicas=3), 1).walk(0, 50).met[0].situations.tolist())
    many = set(Walker([HW], Configuration(replicas=3), 1).walk(0, 20_000).met[0].situations.tolist())
    assert len(within.situations - few) > len(within.situations - many)


def test_a_situation_is_shown_in_a_line():
    execution = Execution(HW, Configuration())
    (event,) = parse_schedule(["crash A"])
    before = situations.before(execution.state, 0)
    assert execution.apply(event)
    assert in_words(situations.situation(execution.state, event, before)) == (
        "crash at a leader that knows the current one, in the ISR, log as the leader's, HW at its LEO,"
        " in flight nothing: LEO stays, HW stays"
    )
