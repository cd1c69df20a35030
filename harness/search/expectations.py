"""What is expected of each generation and release: the properties known to break, and why.

This is the one table of it. A protocol that is not named for a property must hold it; so must any protocol that is put
together from single mechanisms. Where Kafka has no issue of its own for a flaw, it is only suspected, and says so.
"""

from epochfuzz.model.configuration import Configuration
from epochfuzz.model.mechanisms import EligibleLeaders
from epochfuzz.model.protocols import Protocol

_Flaws = dict[tuple[str, ...], str]

_LOSS = ("no-committed-loss", "no-acked-loss")
_DISAGREEMENT = ("no-divergence", "isr-complete")

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
_RE_ELECTED_LEADER: _Flaws = {
    (*_LOSS, *_DISAGREEMENT): (
        SUSPECTED + "a leader that stays leader takes what a follower once fetched for what it still has"
    ),
}

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
}


def known_flaw(protocol: Protocol, settings: Configuration, property_: str) -> str | None:
    """Why a property is known to break under a protocol and configuration; None where it must hold."""
    if settings.unclean_leader_election and property_ in (*_LOSS, *_DISAGREEMENT):
        return "unclean.leader.election.enable trades committed records for availability"
    if (
        settings.power_loss
        and property_ != "hw-within-log"
        and protocol.choice("eligible_leaders") == EligibleLeaders.NONE
    ):
        return "an unflushed tail is gone with the power, and its leader may lead the same epoch again without it"
    for flaws in _KNOWN_FLAWS.get(protocol.name, ()):
        for flawed, reason in flaws.items():
            if property_ in flawed:
                return reason
    return None
