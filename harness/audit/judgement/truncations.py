"""Find truncations below a replica's own high watermark, which remove committed records that the leader lacks."""

from collections.abc import Iterator

from epochfuzz.harness.audit.judgement.findings import PartitionFinding, What
from epochfuzz.harness.audit.judgement.history import CUTS, ROLES, Life, Placed
from epochfuzz.harness.audit.judgement.making import finding_of
from epochfuzz.harness.audit.lines.events import MessageKind


def truncated_below_high_watermark(life: Life) -> Iterator[PartitionFinding]:
    """Find replicas that truncate below their own high watermark, as their own lines show.

    Up to 0.10 a follower first truncates to its high watermark. If the leader's log ends below this high watermark, the
    follower resets its fetch offset to the leader's log end offset.
    """
    for each in life.of(MessageKind.BELOW_HIGH_WATERMARK):
        cut, known = each.event.offset, each.event.high_watermark
        if cut is not None and known is not None and cut < known:
            told = (
                f"Broker {each.broker} truncated its log to {cut:,}, and knew that everything below {known:,} was"
                " committed."
            )
            around = [e for e in (_role_of(life, each), each) if e is not None]
            yield finding_of(life, What.TRUNCATED_BELOW_HIGH_WATERMARK, (cut, known - 1), each.epoch, told, around)
    for each in life.of(MessageKind.RESET):
        cut, from_ = each.event.offset, each.event.end_offset
        by_high_watermark = _cut_to_high_watermark(life, each)
        if by_high_watermark is not None and cut is not None and from_ is not None and cut < from_:
            told = (
                f"Broker {each.broker} had truncated its log to its high watermark, {from_:,}. The log of its leader"
                f" ends at {cut:,}, without the committed records from there on."
            )
            evidence = [by_high_watermark, each]
            yield finding_of(life, What.TRUNCATED_BELOW_HIGH_WATERMARK, (cut, from_ - 1), each.epoch, told, evidence)
    yield from _below_shown(life)


def _cut_to_high_watermark(life: Life, reset: Placed) -> Placed | None:
    """Return the truncation to a follower's high watermark before a reset of its fetch offset, or None.

    Only followers up to 0.10 truncate to their high watermark. The reset must start from the offset of the truncation.
    """
    if reset.event.leader is None:  # The line is from 1.0 or later, where followers truncate by leader epochs.
        return None
    if life.reigns:  # A leader logged its epoch. Brokers do so since 0.11, where followers truncate by leader epochs.
        return None
    cut = next((e for e in life.earlier(reset) if e.event.kind == MessageKind.TRUNCATION), None)
    return cut if cut is not None and cut.event.offset == reset.event.end_offset else None


def _role_of(life: Life, placed: Placed) -> Placed | None:
    return next((e for e in life.earlier(placed) if e.event.kind in ROLES), None)


def _below_shown(life: Life) -> Iterator[PartitionFinding]:
    """Yield a finding for each truncation below a high watermark that the replica's own earlier lines show.

    Kafka 2.1 to 4.1 rarely log that they truncate below a high watermark (KAFKA-19474). Since 2.7, a warning about a
    non-monotonic update of the high watermark shows the value before the update. But the replica may have learned this
    value from the new leader before the truncation. This rule therefore takes the high watermark from an earlier line
    (`_shown_before`), and only adds the warning to the evidence.
    """
    said = {(each.broker, each.event.offset) for each in life.of(MessageKind.BELOW_HIGH_WATERMARK)}
    for cut in life.of(MessageKind.TRUNCATION):
        offset = cut.event.offset
        if offset is None or cut.role == MessageKind.LEADER or (cut.broker, offset) in said:
            continue
        known = _shown_before(life, cut)
        if known is None or known[0] <= offset:
            continue
        high_watermark, shown = known
        told = (
            f"Broker {cut.broker} truncated its log to {offset:,}, after its high watermark had been"
            f" {high_watermark:,}: everything below that was committed."
        )
        back = _went_back(life, cut)
        evidence = [shown, cut, *([] if back is None else [back])]
        yield finding_of(
            life, What.TRUNCATED_BELOW_HIGH_WATERMARK, (offset, high_watermark - 1), cut.epoch, told, evidence
        )


def _shown_before(life: Life, cut: Placed) -> tuple[int, Placed] | None:
    """Return the last high watermark that a replica showed before a truncation, and the line that shows it.

    The returned value is at most the log end offset in that line. If the replica truncated its log between the two
    lines, the value is at most the lowest offset of these truncations. Returns None if no line shows a high watermark
    since the log was created.
    """
    least: int | None = None  # the lowest offset of the truncations in between
    for each in life.earlier(cut):
        event = each.event
        if event.kind in (MessageKind.CREATED, MessageKind.DELETED):
            return None
        if event.kind in (*CUTS, MessageKind.CORRUPTION) and event.offset is not None:
            least = event.offset if least is None else min(least, event.offset)
        elif event.kind in (*ROLES, MessageKind.LOADED, MessageKind.SHRINK) and event.high_watermark is not None:
            # Up to 2.3, a truncation could leave the high watermark above the end of the log.
            end = event.end_offset if event.kind == MessageKind.SHRINK else event.offset
            bounds = (event.high_watermark, end, least)
            return min(bound for bound in bounds if bound is not None), each
    return None


def _went_back(life: Life, cut: Placed) -> Placed | None:
    """Return the line that shows that a replica's high watermark went back to the offset of its truncation, or None."""
    later = life.brokers[cut.broker][cut.index + 1 :]
    for each in later:
        if each.event.kind in (*ROLES, *CUTS):
            return None
        if each.event.kind == MessageKind.NON_MONOTONIC:
            return each if each.event.offset == cut.event.offset else None
    return None


def undecided_truncations(life: Life) -> Iterator[str]:
    """Yield a sentence for each truncation that lowered a high watermark which no earlier line of the replica shows."""
    for cut in life.of(MessageKind.TRUNCATION):
        back = _went_back(life, cut)
        if back is None or cut.role == MessageKind.LEADER or _shown_before(life, cut) is not None:
            continue
        high_watermark, offset = back.event.high_watermark, cut.event.offset
        if high_watermark is not None and offset is not None and high_watermark > offset:
            yield (
                f"broker {cut.broker} truncated its log to {offset:,} and its high watermark went back from"
                f" {high_watermark:,}, and no line shows whether it had reached that before the last election. Add"
                " state-change.log and older files of this broker"
            )
