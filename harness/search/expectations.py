"""What is expected of each generation: the properties known to break, and why.

This is the one table of it. A generation that is not named for a property must hold it; so must any protocol that is
put together from single mechanisms.
"""

from epochfuzz.model.configuration import Configuration
from epochfuzz.model.protocols import Protocol

_LOSS = ("no-committed-loss", "no-acked-loss")
_DISAGREEMENT = ("no-divergence", "isr-complete")

_KNOWN_FLAWS: dict[str, dict[tuple[str, ...], str]] = {
    "hw": {
        (
            *_LOSS,
            *_DISAGREEMENT,
            "convergence",
        ): "the high watermark trails by one fetch: KIP-101 describes both failures",
    },
    "kip-101": {
        (*_LOSS, *_DISAGREEMENT, "convergence"): (
            "an epoch the leader never had is cut too late (KAFKA-6361), and requests are not fenced (KIP-320)"
        ),
    },
    "kip-279": {
        (*_LOSS, *_DISAGREEMENT, "convergence"): (
            "a leader that has not written yet answers for an epoch it does not know (KAFKA-7415), and requests are"
            " not fenced (KIP-320)"
        ),
    },
}


def known_flaw(protocol: Protocol, settings: Configuration, property_: str) -> str | None:
    """Why a property is known to break under a protocol and configuration; None where it must hold."""
    if settings.unclean_leader_election and property_ in (*_LOSS, *_DISAGREEMENT):
        return "unclean.leader.election.enable trades committed records for availability"
    if settings.power_loss and property_ != "hw-within-log":
        return "an unflushed tail is gone with the power, and its leader may lead the same epoch again without it"
    for flawed, reason in _KNOWN_FLAWS.get(protocol.name, {}).items():
        if property_ in flawed:
            return reason
    return None
