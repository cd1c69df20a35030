"""What is expected of each generation and release: the properties known to break, and why.

This is the one table of it. A protocol that is not named for a property must hold it; so must any protocol that is put
together from single mechanisms. Where Kafka has no issue of its own for a flaw, it is only suspected, and says so.
"""

from epochfuzz.model.configuration import Configuration
from epochfuzz.model.mechanisms import Choice, ConsumerPosition, EligibleLeaders, Idempotence, IsrEligibility
from epochfuzz.model.protocols import NAMED, Protocol, mechanism_of

_Flaws = dict[tuple[str, ...], str]

_LOSS = ("no-committed-loss", "no-acked-loss")
_DISAGREEMENT = ("no-divergence", "isr-complete", "join-complete")
_WITHOUT_THE_UNFLUSHED = (*_LOSS, *_DISAGREEMENT, "log-matching", "convergence")

SUSPECTED = "suspected, without an issue of Kafka's: "

_HW: _Flaws = {
    (*_LOSS, *_DISAGREEMENT, "convergence"): (
        "the high watermark trails by one fetch (KAFKA-1211, KAFKA-3919): KIP-101 tells both failures"
    ),
}
_KIP_101: _Flaws = {
    (*_LOSS, *_DISAGREEMENT, "convergence"): (
        "an epoch that the leader never had is cut too late (KAFKA-6361), and requests are not fenced (KAFKA-6880,"
        " KAFKA-7395)"
    ),
}
_KIP_279: _Flaws = {
    (*_LOSS, *_DISAGREEMENT, "convergence"): (
        "a leader that has not written yet does not know where an earlier epoch ends (KAFKA-7415), and requests are not"
        " fenced (KAFKA-6880, KAFKA-7395)"
    ),
}
_NOT_FENCED: _Flaws = {
    (*_LOSS, *_DISAGREEMENT): "requests are not fenced (KAFKA-6880, KAFKA-7395)",
}
_HIGH_WATERMARK_ABOVE_LOG: _Flaws = {
    ("hw-within-log",): SUSPECTED + "up to Kafka 2.3 a cut below the high watermark does not lower it",
}
_CACHE_CUT_WITH_LOG: _Flaws = {
    ("convergence",): "a follower asks where the same epoch ends again and again (KAFKA-10706)",
}
_STAYS_LEADER = SUSPECTED + "a leader that stays leader takes what a follower once fetched for what it still has"
_RE_ELECTED_LEADER: _Flaws = {
    (*_LOSS, *_DISAGREEMENT): _STAYS_LEADER,
}
# Since the ISR changes by request, nobody was seen to join it incomplete for that.
_RE_ELECTED_LEADER_SINCE_2_7: _Flaws = {
    (*_LOSS, "no-divergence", "isr-complete"): _STAYS_LEADER,
}
_DIVERGING_FETCH_COUNTED: _Flaws = {
    (*_LOSS, *_DISAGREEMENT): "a leader counts the offset of a fetch that shows that logs diverge (KAFKA-13141)",
}
_LATE_ANSWER: _Flaws = {
    (*_LOSS, *_DISAGREEMENT, "convergence"): "the answer to a fetch of an earlier epoch cuts the log (KAFKA-18991)",
}
_LATE_DIVERGENCE: _Flaws = {
    ("log-matching", "convergence"): "a leader cuts its log, for an answer from when it was a follower (KAFKA-13207)",
}
_DIVERGING_HIGH_WATERMARK: _Flaws = {
    ("no-divergence",): "a high watermark is taken over with the news that logs diverge (KAFKA-14704)",
}
_HIGH_WATERMARK_NOT_ADVANCED: _Flaws = {
    ("hw-due",): "the high watermark stays as it was when a change of the ISR is answered (KAFKA-13091)",
}
_PROPOSAL_NOT_SENT: _Flaws = {
    ("isr-change-ends",): "a change of the ISR is proposed and never sent, after news of the partition (KAFKA-12686)",
}
_REVERTED_EXPANSION: _Flaws = {
    ("hw-due",): SUSPECTED + "the high watermark stays as it was when a change of the ISR is turned down",
}
_TO_DATE = (_RE_ELECTED_LEADER_SINCE_2_7, _REVERTED_EXPANSION)

# By name of a protocol; of two reasons for one property the first counts.
_KNOWN_FLAWS: dict[str, tuple[_Flaws, ...]] = {
    "hw": (_HW,),
    "kip-101": (_KIP_101,),
    "kip-279": (_KIP_279,),
    "kafka-0.10.2": (_HW, _HIGH_WATERMARK_ABOVE_LOG),
    "kafka-1.1": (_KIP_101, _HIGH_WATERMARK_ABOVE_LOG),
    "kafka-2.0.0": (_KIP_279, _HIGH_WATERMARK_ABOVE_LOG),
    "kafka-2.0.1": (_NOT_FENCED, _CACHE_CUT_WITH_LOG, _HIGH_WATERMARK_ABOVE_LOG),
    "kafka-2.1": (_RE_ELECTED_LEADER, _CACHE_CUT_WITH_LOG, _HIGH_WATERMARK_ABOVE_LOG),
    "kafka-2.3": (_RE_ELECTED_LEADER, _CACHE_CUT_WITH_LOG, _HIGH_WATERMARK_ABOVE_LOG),
    "kafka-2.6.0": (_RE_ELECTED_LEADER, _CACHE_CUT_WITH_LOG),
    "kafka-2.6.1": (_RE_ELECTED_LEADER,),
    "kafka-2.7": (_RE_ELECTED_LEADER_SINCE_2_7, _HIGH_WATERMARK_NOT_ADVANCED, _PROPOSAL_NOT_SENT),
    "kafka-2.8.0": (_DIVERGING_FETCH_COUNTED, _LATE_DIVERGENCE, _HIGH_WATERMARK_NOT_ADVANCED, _PROPOSAL_NOT_SENT),
    "kafka-2.8.1": (_DIVERGING_HIGH_WATERMARK, _LATE_ANSWER, _HIGH_WATERMARK_NOT_ADVANCED, _PROPOSAL_NOT_SENT),
    "kafka-3.0": (_DIVERGING_HIGH_WATERMARK, _LATE_ANSWER, _HIGH_WATERMARK_NOT_ADVANCED),
    "kafka-3.1": (_DIVERGING_HIGH_WATERMARK, _LATE_ANSWER),
    "kafka-3.3": (_DIVERGING_HIGH_WATERMARK, _LATE_ANSWER, *_TO_DATE),
    **dict.fromkeys(("kafka-3.4.1", "kafka-3.5", "kafka-3.6", "kafka-3.7"), (_LATE_ANSWER, *_TO_DATE)),
    "kafka-4.1": _TO_DATE,
}


# By a choice that a generation or a release has: what its clients are not spared, where they are part of the run.
_FLAWS_OF_CLIENTS: dict[Choice, _Flaws] = {
    Idempotence.NONE: {
        ("no-duplicate", "no-reorder"): "before the idempotent producer a retry is a record like any other (KIP-98)",
    },
    ConsumerPosition.OFFSET: {
        ("consumer-no-skip",): "a consumer that knows an offset alone does not notice a truncation (KIP-320)",
    },
    ConsumerPosition.END_OFFSET: {
        ("consumer-no-skip",): SUSPECTED + "a consumer compares where an epoch ends, and not which epoch that is",
    },
}


def known_flaw(protocol: Protocol, settings: Configuration, property_: str) -> str | None:
    """Why a property is known to break under a protocol and configuration; None where it must hold."""
    if property_ == "read-committed":
        property_ = "no-committed-loss"  # a marker that is lost takes with it what it says of the records before it
    if settings.unclean_leader_election and property_ in (*_LOSS, *_DISAGREEMENT):
        return "unclean.leader.election.enable trades committed records for availability"
    if settings.power_loss and property_ in _WITHOUT_THE_UNFLUSHED and not _bears_power_loss(protocol, property_):
        return "an unflushed tail is gone with the power, and its replica may lead or be counted without it (KIP-966)"
    for flaws in (*_KNOWN_FLAWS.get(protocol.name, ()), *_flaws_of_clients(protocol)):
        for flawed, reason in flaws.items():
            if property_ in flawed:
                return reason
    return None


def _bears_power_loss(protocol: Protocol, property_: str) -> bool:
    """Whether a protocol promises a property though power may fail, up to min.insync.replicas - 1 times (KIP-966)."""
    if property_ == "join-complete":
        return protocol.choice("isr_eligibility") == IsrEligibility.INCARNATION
    return protocol.choice("eligible_leaders") != EligibleLeaders.NONE


def _flaws_of_clients(protocol: Protocol) -> list[_Flaws]:
    if protocol.name not in NAMED:
        return []
    return [flaws for choice, flaws in _FLAWS_OF_CLIENTS.items() if protocol.choice(mechanism_of(choice)) is choice]
