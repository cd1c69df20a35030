"""Describe changes of the ISR: by leaders alone, or by leaders' requests to the controller (KIP-497)."""

from collections.abc import Iterator

from epochfuzz.harness.trace.change import Change, is_or_are, isr_of, joined, listed
from epochfuzz.model.kafka.contract.observation import members
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES
from epochfuzz.model.kafka.vocabulary.in_force import has_heartbeats, requests_isr_changes
from epochfuzz.model.kafka.vocabulary.mechanisms import IsrEligibility, IsrVersion
from epochfuzz.model.kafka.vocabulary.state import NONE, Alter, State


def shrink(c: Change) -> Iterator[str]:
    """Describe the event `shrink`: the leader removes a lagging follower from the ISR, or proposes to remove it."""
    p = c.before
    leader = controller.true_leader(p)
    offset = p.remote_leos[leader, c.r]
    seen = f"has not heard from {c.name}" if offset == NONE else f"has seen {c.name} at offset {offset}"
    yield from _change(c, leader, f"drop {c.name} from", f"it {seen}, and its own LEO is {p.leo[leader]}")


def expand(c: Change) -> Iterator[str]:
    """Describe the event `expand`: the leader adds a caught-up replica to the ISR, or proposes to add it."""
    p = c.before
    leader = controller.true_leader(p)
    seen = f"it has seen {c.name} at offset {p.remote_leos[leader, c.r]}"
    gone = ", before it restarted" if p.remote_stale[leader] >> c.r & 1 else ""
    yield from _change(c, leader, f"take {c.name} into", f"{seen}{gone}, and its own HW is {p.high_watermark[leader]}")


def _change(c: Change, leader: int, what: str, reason: str) -> Iterator[str]:
    name = REPLICA_NAMES[leader]
    if not requests_isr_changes(c.after):
        verb, _, rest = what.partition(" ")
        yield f"{name} {verb}s {rest} the ISR, which is now {isr_of(c.after)}: {reason}"
        return
    yield f"{name} proposes to {what} the ISR, to be {listed(c.after.pending_isr[leader])}: {reason}"
    if c.before.alter[leader] != Alter.NOTHING:
        yield "but it sends nothing, because it has an earlier AlterPartition request in flight"
    elif c.after.alter_current[leader]:
        yield "its AlterPartition request is on its way"
    else:
        yield "its AlterPartition request is on its way, with a partition epoch that is not the current one"


def alter(c: Change) -> Iterator[str]:
    """Describe the event `alter`: the controller handles an AlterPartition request."""
    p, proposed = c.before, listed(c.before.alter_isr[c.r])
    answer = c.after.alter[c.r]
    if answer == Alter.REVERTED:
        reason = _ineligible(p, c.r)
        yield f"the controller rejects {c.name}'s proposal of ISR {proposed}: {reason} (INELIGIBLE_REPLICA)"
    elif answer == Alter.REFUSED:
        yield f"the controller refuses {c.name}'s proposal of ISR {proposed}: {_outdated(p, c.r)}"
    elif answer == Alter.NEW_EPOCH:
        leaving = listed(controller.isr(p) & ~p.alter_isr[c.r])
        opened = f"a new epoch of {c.name}, {c.after.controller_epoch}, because {leaving} leaves the ISR"
        yield f"the controller applies {c.name}'s proposal: ISR {proposed}, in {opened}"
    elif p.alter_current[c.r] or p.isr_version == IsrVersion.UNCHECKED:
        unaware = "" if p.alter_current[c.r] else f", although the partition is not as {c.name} knew it"
        yield f"the controller applies {c.name}'s proposal: ISR {proposed}{unaware}"
    else:
        yield f"the controller has already applied {c.name}'s proposal, and confirms it: ISR {proposed}"


def _outdated(p: State, r: int) -> str:
    """Return the reason why the controller rejects r's AlterPartition request, with Kafka's error code.

    A stale leader epoch takes precedence over a stale partition epoch (ReplicationControlManager, KafkaController).
    """
    if p.known_epoch[r] < p.controller_epoch:
        return f"it is at epoch {p.controller_epoch} by now (FENCED_LEADER_EPOCH)"
    return "the partition has changed since (INVALID_UPDATE_VERSION)"


def _ineligible(p: State, r: int) -> str:
    """Return the reason why the controller rejects the ISR that r proposes, such as `B is fenced`."""
    proposed = p.alter_isr[r]
    dead = 0 if has_heartbeats(p) else proposed & ~controller.live(p, proposed)
    fenced = proposed & p.fenced
    stale = p.alter_stale[r] & ~dead & ~fenced if p.isr_eligibility >= IsrEligibility.INCARNATION_RACY else 0
    return joined(
        f"{joined(members(who))} {verb} {state}"
        for who, verb, state in (
            (dead, is_or_are(dead), "down"),
            (fenced, is_or_are(fenced), "fenced"),
            (stale, _have(stale), f"restarted since {REPLICA_NAMES[r]} heard from it"),
        )
        if who
    )


def altered(c: Change) -> Iterator[str]:
    """Describe the event `altered`: a leader receives the response to its AlterPartition request."""
    p, r, answer = c.before, c.r, answer_under_way(c.before, c.r)
    if not p.alter_mine[r]:
        yield f"the answer to {c.name} comes too late, because it no longer has a pending proposal: {answer}"
    elif p.alter[r] == Alter.APPLIED:
        since = "" if p.alter_current[r] else ", though the partition has changed again since"
        yield f"{c.name} learns that its proposal is applied: its ISR is now {listed(c.after.isr[r])}{since}"
    elif p.alter[r] == Alter.NEW_EPOCH:
        yield f"{c.name} drops the answer, which names an epoch that it does not lead yet: it waits for the update"
    elif p.alter[r] == Alter.REVERTED:
        yield f"{c.name} takes its proposal back: its ISR stays {listed(c.after.isr[r])}"
    else:
        yield f"{c.name}'s proposal is refused: ISR {listed(p.pending_isr[r])} stays pending until the next update"


def resend(c: Change) -> Iterator[str]:
    """Describe the event `resend`: an AlterPartition response is lost, and the leader sends the request again."""
    yield f"the answer to {c.name}'s AlterPartition request is lost: {answer_under_way(c.before, c.r)}"
    yield f"{c.name} sends the same request again"


def refuse(c: Change) -> Iterator[str]:
    """Describe the event `refuse`: a controller that is no longer active rejects an ISR proposal."""
    yield f"a controller that is no longer active rejects {c.name}'s proposal of ISR {listed(c.before.alter_isr[c.r])}"
    yield f"{c.name} treats this as final"


def learned(c: Change) -> Iterator[str]:
    """Describe changes of the ISR, of fencing and of broker registrations that a leader reads in the metadata log."""
    p, r = c.before, c.r
    fenced, registered = c.after.shown_fenced[r] & ~p.shown_fenced[r], p.shown_outdated[r]
    heard = p.shown_fenced[r] & ~c.after.shown_fenced[r]
    for who, verb, what in (
        (fenced, is_or_are(fenced), "fenced"),
        (heard, is_or_are(heard), "no longer fenced"),
        (registered, _have(registered), "registered again"),
    ):
        if who:
            yield f"the metadata log tells {c.name} that {joined(members(who))} {verb} {what}"
    if p.isr_current[r]:
        return
    yield f"the metadata log tells {c.name} that the ISR is {listed(c.after.isr[r])}, in epoch {p.known_epoch[r]} still"
    if p.pending_isr[r] == c.after.isr[r]:
        yield f"that is what {c.name} has proposed"
    elif p.pending_isr[r]:
        yield _given_up(c)


def given_up(c: Change) -> Iterator[str]:
    """Describe that a replica gives up its pending ISR proposal. Yield nothing without a pending proposal."""
    if c.before.pending_isr[c.r]:
        yield _given_up(c)


def _given_up(c: Change) -> str:
    under_way = ", though its request is still under way" if c.after.alter[c.r] != Alter.NOTHING else ""
    return f"{c.name} no longer waits for ISR {listed(c.before.pending_isr[c.r])}, which it has proposed{under_way}"


def request_under_way(p: State, r: int) -> str:
    """Return the message in flight between r and the controller, such as `AlterPartition A,B`, or an empty text."""
    if p.alter[r] == Alter.NOTHING:
        return ""
    return f"AlterPartition {listed(p.alter_isr[r])}" if p.alter[r] == Alter.REQUEST else answer_under_way(p, r)


_ANSWERS = {
    Alter.APPLIED: "applied",
    Alter.REFUSED: "refused",
    Alter.REVERTED: "ineligible",
    Alter.NEW_EPOCH: "applied in a new epoch",
}


def answer_under_way(p: State, r: int) -> str:
    """Return the controller's response to r's AlterPartition request, as in `ISR A,B applied`."""
    return f"ISR {listed(p.alter_isr[r])} {_ANSWERS[Alter(p.alter[r])]}"


def joined_incomplete(c: Change) -> str:
    """Return a clause about a replica that joined the ISR without all records below the leader's high watermark.

    Call this only if the step has broken `join-complete`.
    """
    before, after = controller.isr(c.before), controller.isr(c.after)
    proposer = c.r if requests_isr_changes(c.after) else controller.true_leader(c.before)
    joining = joined(members(after & ~before))
    leader = REPLICA_NAMES[proposer]
    return f"{joining} joins the ISR without all records below the HW of {leader}, which proposed it"


def _have(replica_set: int) -> str:
    return "has" if is_or_are(replica_set) == "is" else "have"
