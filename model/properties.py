"""The properties: what must hold after every event, each a function that says whether it is broken.

`convergence` alone is not judged after every event but at the end of a schedule, by healing a copy of the partition.
"""

from epochfuzz.model import controller, healing, log
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.replication import presumes_leadership
from epochfuzz.model.state import NONE, State

# In the order of severity, which is the order of every table and list. Bit i of a set of properties is the i-th.
PROPERTIES = (
    "no-committed-loss",
    "no-acked-loss",
    "no-divergence",
    "log-matching",
    "hw-within-log",
    "isr-complete",
    "convergence",
)
(
    NO_COMMITTED_LOSS,
    NO_ACKED_LOSS,
    NO_DIVERGENCE,
    LOG_MATCHING,
    HW_WITHIN_LOG,
    ISR_COMPLETE,
    CONVERGENCE,
) = (1 << bit for bit in range(len(PROPERTIES)))


def names(broken: int) -> list[str]:
    """The names of a set of properties, the most severe first."""
    return [name for bit, name in enumerate(PROPERTIES) if broken >> bit & 1]


def permitted(settings: Configuration) -> frozenset[str]:
    """What the contract with clients allows to break: acks=1 promises nothing that the leader alone has."""
    return frozenset({"no-acked-loss"}) if settings.acks == "1" else frozenset()


def broken_now(p: State) -> int:
    """The set of properties that are broken in this state, `convergence` aside."""
    broken = 0
    if committed_loss(p):
        broken |= NO_COMMITTED_LOSS
    if acked_loss(p):
        broken |= NO_ACKED_LOSS
    if divergence(p):
        broken |= NO_DIVERGENCE
    if mismatch(p):
        broken |= LOG_MATCHING
    if high_watermark_beyond_log(p):
        broken |= HW_WITHIN_LOG
    if isr_incomplete(p):
        broken |= ISR_COMPLETE
    return broken


def non_convergence(p: State) -> bool:
    """convergence: once healed, live logs and high watermarks are equal. Heals `p` itself: hand it a copy."""
    healing.heal(p)
    return not healing.has_converged(p)


def committed_loss(p: State) -> bool:
    """no-committed-loss: every exposed record stands on the true leader."""
    leader = controller.true_leader(p)
    return leader != NONE and p.exposed & ~p.standing[leader] != 0


def acked_loss(p: State) -> bool:
    """no-acked-loss: every acked record stands on the true leader."""
    leader = controller.true_leader(p)
    return leader != NONE and p.acked & ~p.standing[leader] != 0


def divergence(p: State) -> bool:
    """no-divergence: no two replicas disagree on a record below both their high watermarks."""
    for a in range(p.replicas):
        for b in range(a):
            both = min(p.high_watermark[a], p.high_watermark[b])
            if log.prefix(p.log_record[a] ^ p.log_record[b], both) != 0:
                return True
    return False


def mismatch(p: State) -> bool:
    """log-matching: same offset and same epoch, same record (the TLA+ specifications' LogMatching)."""
    for a in range(p.replicas):
        for b in range(a):
            both = min(p.leo[a], p.leo[b])
            other_record = log.prefix(p.log_record[a] ^ p.log_record[b], both)
            if other_record == 0:
                continue
            other_epoch = p.log_epoch[a] ^ p.log_epoch[b]
            if log.occupied(other_record) & ~log.occupied(other_epoch) != 0:
                return True
    return False


def high_watermark_beyond_log(p: State) -> bool:
    """hw-within-log: HW <= LEO everywhere."""
    for r in range(p.replicas):
        if p.high_watermark[r] > p.leo[r]:
            return True
    return False


def isr_incomplete(p: State) -> bool:
    """isr-complete: what is below the HW of a presumed leader is on every member of the true ISR (StrongIsr)."""
    members = controller.isr(p)
    for leader in range(p.replicas):
        if presumes_leadership(p, leader):
            end = p.high_watermark[leader]
            for r in range(p.replicas):
                if members >> r & 1 and (
                    p.leo[r] < end or log.prefix(p.log_record[leader] ^ p.log_record[r], end) != 0
                ):
                    return True
    return False
