"""Compare the replicas of one partition, and find committed records that a later leader does not have.

A record below a high watermark stays at its offset in the log of every later leader. Suppose that one replica has a
later leader epoch than the latest epoch of another replica. The replica with the later epoch must then have every
record that the other replica knew to be committed. This conclusion needs no clocks, and holds for copies that were made
at different times.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from epochfuzz.harness.audit.disks.commits import Commit, still_stands
from epochfuzz.harness.audit.disks.divergence import ReadBudget, difference_of, divergences
from epochfuzz.harness.audit.disks.metadata_log import NOBODY, MetadataLog, PartitionHistory, PartitionState
from epochfuzz.harness.audit.disks.replicas import DiskReplica, Epoch
from epochfuzz.harness.audit.disks.segments import unit_of
from epochfuzz.harness.audit.judgement.findings import PartitionFinding, What
from epochfuzz.harness.audit.lines.events import Event, MessageKind

_MOST_SEQUENCE_GAPS = 3  # that are listed for a partition


@dataclass(frozen=True, kw_only=True)
class _Loss:
    """Committed records, at offsets `first` to `last`, that the leader of a later `epoch` does not have."""

    first: int
    last: int
    epoch: Epoch
    by: DiskReplica  # a replica with the log of a later leader
    told: str
    evidence: tuple[Event, ...]
    deleted_below: bool  # the later log begins at `first`, so more may have been lost below


@dataclass(frozen=True)
class _Committed:
    """The committed part of a log: all records below offset `below`. If `is_exact`, no other record was committed."""

    below: int = 0
    told: str = ""
    evidence: tuple[Event, ...] = ()
    is_exact: bool = False


@dataclass
class Compared:
    """The findings of one partition, and the gaps: reasons why the comparison may have missed a loss."""

    findings: list[PartitionFinding] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class DiskPartition:
    """All data about one partition that the disks contain."""

    topic: str
    number: int
    replicas: Sequence[DiskReplica]
    metadata: Sequence[MetadataLog] = ()
    commits: Sequence[Commit] = ()

    @property
    def name(self) -> str:
        """Return the name of the partition."""
        return f"{self.topic}-{self.number}"

    def histories(self, topic_id: str | None) -> Iterator[tuple[MetadataLog, PartitionHistory]]:
        """Yield the history of the partition with this topic id, from each copy of the metadata log."""
        for log in self.metadata:
            if topic_id is not None and (topic_id, self.number) in log.partitions:
                yield log, log.partitions[topic_id, self.number]


def compared(partition: DiskPartition, budget: ReadBudget) -> Compared:
    """Compare the replicas of a partition. `budget` limits the batches that the whole audit reads a second time."""
    result = Compared()
    usable = [_bounded(replica, partition) for replica in partition.replicas if replica.is_usable]
    different = _different(partition, usable, budget, result)
    losses: list[_Loss] = []
    for old in usable:
        for new in usable:
            later = new.first_after(old.latest)
            if old is new or later is None or old.latest < 0:
                continue
            if {old.path, new.path} in different:
                continue
            same = _same_life(old, new)
            if same is None:
                result.gaps.append(
                    f"{partition.name}: {old.path} and {new.path} have no topic id and no batch in common; they may be"
                    " of a topic that was deleted and created again, and were not compared"
                )
            if same:
                losses += _lost(partition, old, new, later, result)
    losses += _lost_by_commits(partition, usable, result)
    result.findings += _merged(partition, losses)
    result.findings += _unclean_elections(partition, usable, result)
    result.gaps += _sequence_gaps(partition, usable, result.findings)
    result.gaps = list(dict.fromkeys(result.gaps))
    return result


def _bounded(replica: DiskReplica, partition: DiskPartition) -> DiskReplica:
    """Return `replica`, or an empty replica if `replica` has a later leader epoch than the complete metadata logs.

    A replica with a later epoch was copied after the metadata logs, or is damaged. So it proves nothing about losses.
    """
    known = [history.state.epoch for _, history in partition.histories(replica.topic_id)]
    if known and replica.latest > max(known) and all(log.is_whole for log in partition.metadata):
        replica.problems.append(
            f"{replica.path}: has leader epoch {replica.latest}, and the metadata log ends at {max(known)}; it was"
            " copied later, or is damaged, and was not compared"
        )
        return DiskReplica(
            topic=replica.topic,
            partition=replica.partition,
            path=replica.path,
            directory=replica.directory,
            topic_id=replica.topic_id,
        )
    return replica


def _same_life(one: DiskReplica, other: DiskReplica) -> bool | None:
    """Return whether two logs belong to the same topic, and not to a topic that was deleted and created again.

    Since 2.8, topic ids decide (KIP-516). Without topic ids, a batch that both logs contain shows that the topic is the
    same. Returns None if a topic id is missing and no batch is in both logs.
    """
    ids = {one.topic_id, other.topic_id}
    if None not in ids:
        return len(ids) == 1
    firsts = {each.run.first.identity for each in one.epochs if each.run is not None}
    if any(each.run is not None and each.run.first.identity in firsts for each in other.epochs):
        return True
    return None


def _different(
    partition: DiskPartition, usable: Sequence[DiskReplica], budget: ReadBudget, result: Compared
) -> list[frozenset[str]]:
    """Find pairs of replicas with different batches of a leader epoch at one offset. Returns the paths of each pair."""
    differences = [
        found
        for one, other in combinations(usable, 2)
        if _same_life(one, other) and (found := difference_of(one, other, budget)) is not None
    ]
    result.findings += divergences(partition.topic, partition.number, [each for each in differences if each.is_certain])
    for each in differences:
        wrong = each.wrong_checksum
        if wrong is not None:
            result.gaps.append(f"{wrong.file}, byte {wrong.batch.position:,}: a batch has the wrong checksum")
        elif not each.is_certain:
            result.gaps.append(
                f"{partition.name}: {each.one.path} and {each.other.path} have different batches of one leader epoch at"
                f" offset {each.first[0].batch.base:,}. One of them was copied there from elsewhere, or has diverged."
                " They were not compared"
            )
    return [frozenset((each.one.path, each.other.path)) for each in differences]


def _divergence(old: DiskReplica, new: DiskReplica) -> int | None:
    """Return the first offset of `old` that `new` lacks or has with another leader epoch, None if there is none."""
    begins = max(old.start, new.start)
    points = {begins, new.end, *(each.start for each in (*old.epochs, *new.epochs))}
    for offset in sorted(point for point in points if begins <= point < old.end):
        own, theirs = old.epoch_at(offset), new.epoch_at(offset)
        if own is not None and (offset >= new.end or theirs is None or theirs.number != own.number):
            return offset
    return None


def _lost(
    partition: DiskPartition, old: DiskReplica, new: DiskReplica, later: Epoch, result: Compared
) -> Iterator[_Loss]:
    """Find committed records of an earlier log that a later leader lacks. Adds undecided cases to `result.gaps`."""
    first = _divergence(old, new)
    if first is None:
        if old.start < old.end <= new.start and new.epochs and new.epochs[0].number > old.latest:
            result.gaps.append(
                f"{partition.name}: {old.path} ends at offset {old.end:,}, before the logs of later leaders begin."
                " These disks do not show what happened in between. Give a copy from that time, or logs"
            )
        return
    committed = _committed(partition, old, later)
    if first < committed.below:
        yield _Loss(
            first=first,
            last=committed.below - 1,
            epoch=later,
            by=new,
            told=committed.told,
            evidence=(*committed.evidence, *old.shows_end(), *new.shows_epoch(later)),
            deleted_below=first == new.start and new.start > old.start,
        )
    undecided = max(first, committed.below)
    if undecided < old.end and not committed.is_exact:
        result.gaps.append(
            f"{partition.name}: {old.path} has offsets {undecided:,} to {old.end - 1:,} of leader epoch {old.latest},"
            f" which the leader of epoch {later.number} does not have. We don't know whether they were committed,"
            " because the high watermark on disk is up to 5 s older than the end of the broker. Logs of the brokers, or"
            " a position that a consumer committed, can tell"
        )


def _committed(partition: DiskPartition, old: DiskReplica, later: Epoch) -> _Committed:
    """Return the part of a log that was committed when a later leader was elected, with the reason and evidence."""
    alone = _was_alone(partition, old, later)
    if alone is not None:
        told = (
            f"{old.who.capitalize()} led epoch {old.latest} and was alone in the ISR when that ended, so all records"
            f" of its log, up to offset {old.end - 1:,}, were committed"
        )
        return _Committed(old.end, told, (_shows_state(partition, *alone, old.topic_id),), is_exact=True)
    known = old.high_watermark
    if known is None:
        return _Committed()
    told = f"The high watermark of {old.who} was {known:,}, with leader epoch {old.latest}"
    led = any(history.leaders.get(old.latest) == old.broker for _, history in partition.histories(old.topic_id))
    # A follower's high watermark lags behind its leader's, and a killed broker does not write its last one.
    return _Committed(known, told, (old.shows_high_watermark(),), is_exact=led and old.directory.ended_cleanly)


def _was_alone(partition: DiskPartition, old: DiskReplica, later: Epoch) -> tuple[MetadataLog, PartitionState] | None:
    """Return the state just before an unclean election if `old` was the only ISR member in this state, else None.

    In that state, the replica's whole log was committed, unless min.insync.replicas held the high watermark back
    (KIP-966). The result also has the metadata log that shows the state.
    """
    for log, history in partition.histories(old.topic_id):
        if history.alone.get(old.latest) != old.broker or old.broker is None:
            continue
        if (log.has_eligible or history.uses_eligible) and log.least_in_sync_of(partition.topic) > 1:
            continue
        for before, after in history.unclean:
            # The last member of the ISR stays in it when it dies; with KIP-966 it goes to the ELR.
            if old.latest < after.epoch <= later.number and (before.isr or before.eligible) == (old.broker,):
                return log, before
    return None


def _lost_by_commits(partition: DiskPartition, usable: Sequence[DiskReplica], result: Compared) -> Iterator[_Loss]:
    """Find committed positions of consumers that are beyond the start offset of a later leader epoch.

    A commit contains the leader epoch of the last record that the consumer read. Unless this record was lost, every
    later epoch starts at the committed position or after it.
    """
    for commit in partition.commits:
        for new in usable:
            later = new.first_after(commit.leader_epoch)
            if commit.leader_epoch < 0:
                if commit.position > max((each.end for each in usable), default=commit.position):
                    result.gaps.append(
                        f"{partition.name}: group {commit.group} has committed position {commit.position:,}, beyond the"
                        " end of every log, without a leader epoch: whether it read these records is not known"
                    )
                continue
            if later is None or later.start >= commit.position or commit.position <= new.start:
                continue
            if not _has_one_life(partition, new):
                result.gaps.append(
                    f"{partition.name}: group {commit.group} has committed position {commit.position:,} of leader epoch"
                    f" {commit.leader_epoch}, and epoch {later.number} starts at {later.start:,} in {new.path}. The"
                    " topic may have been deleted and created again between the two"
                )
                continue
            if not still_stands(commit):
                result.gaps.append(f"{commit.file}, byte {commit.byte:,}: a batch has the wrong checksum")
                continue
            first = max(later.start, new.start)
            told = (
                f"Consumer group {commit.group} committed position {commit.position:,}, after it had read a record of"
                f" leader epoch {commit.leader_epoch}"
            )
            yield _Loss(
                first=first,
                last=commit.position - 1,
                epoch=later,
                by=new,
                told=told,
                evidence=(_shows_commit(partition, commit, new.topic_id), *new.shows_epoch(later)),
                deleted_below=first == new.start and new.start > 0,
            )


def _has_one_life(partition: DiskPartition, replica: DiskReplica) -> bool:
    """Return whether a complete metadata log shows that a topic was never deleted and created again."""
    wholes = [log for log in partition.metadata if log.is_whole]
    return any(log.ids_of(partition.topic) == {replica.topic_id} for log in wholes) and all(
        log.ids_of(partition.topic) <= {replica.topic_id} for log in partition.metadata
    )


def _sequence_gaps(
    partition: DiskPartition, usable: Sequence[DiskReplica], findings: Sequence[PartitionFinding]
) -> Iterator[str]:
    """Yield a sentence for each gap in the sequence numbers of a producer.

    A gap that several replicas have counts once. A gap is left out if a finding reports the next offset as lost.
    """
    lost = [
        range(each.first_offset, each.last_offset + 1)
        for each in findings
        if each.first_offset is not None and each.last_offset is not None
    ]
    gaps = [
        gap
        for replica in usable
        for gap in replica.sequence_gaps
        if not any(gap.run.offset in offsets for offsets in lost)
    ]
    known = {(gap.run.producer, gap.run.epoch, gap.expected, gap.run.first): gap for gap in reversed(gaps)}
    distinct = sorted(known.values(), key=lambda gap: gap.run.offset)
    for gap in distinct[:_MOST_SEQUENCE_GAPS]:
        run, unit = gap.run, unit_of(gap.file)
        yield (
            f"{partition.name}: {gap.missing:,} records of producer {run.producer}, epoch {run.epoch}, are missing"
            f" before offset {run.offset:,}: sequence number {run.first:,} is there where {gap.expected:,} should be"
            f" ({gap.file}, {unit} {run.position:,}). A leader accepts this if it has lost the earlier records of the"
            " producer (KIP-360). Add logs, or older copies of the disks, that can show the cause"
        )
    if len(distinct) > _MOST_SEQUENCE_GAPS:
        more = len(distinct) - _MOST_SEQUENCE_GAPS
        yield f"{partition.name}: {more:,} more sequence numbers of producers are missing"


def _merged(partition: DiskPartition, losses: Sequence[_Loss]) -> Iterator[PartitionFinding]:
    """Merge losses into findings: one finding for each pair of a topic id and a leader epoch that lacks records."""
    by_epoch: dict[tuple[str, int], list[_Loss]] = defaultdict(list)
    for loss in losses:
        by_epoch[loss.by.topic_id or "", loss.epoch.number].append(loss)
    for (_, number), same in sorted(by_epoch.items()):
        first, last = min(loss.first for loss in same), max(loss.last for loss in same)
        best = max(same, key=lambda loss: (loss.last - loss.first, -loss.by.start))
        start = min(loss.epoch.start for loss in same)
        below = (
            f" The log begins at {best.by.start:,} now, so more may have been lost below."
            if best.deleted_below and first == best.first
            else ""
        )
        evidence = tuple(dict.fromkeys(event for loss in (best, *same) for event in loss.evidence))
        yield PartitionFinding(
            what=What.COMMITTED_LOSS,
            topic=partition.topic,
            partition=partition.number,
            first_offset=first,
            last_offset=last,
            leader_epoch=number,
            time=max(event.time for event in best.evidence),
            told=f"{best.told}. In the log of {best.by.who}, leader epoch {number} starts at offset {start:,}, without"
            f" the committed records from {first:,} on.{below}",
            evidence=evidence,
            around=evidence,
        )


def _unclean_elections(
    partition: DiskPartition, usable: Sequence[DiskReplica], result: Compared
) -> Iterator[PartitionFinding]:
    """Find elections in the metadata log that chose a broker outside of the ISR and of the eligible leader replicas.

    A deposed controller may have written an election that never took effect. So something else must confirm the
    election: a second copy of the metadata log, a later leader epoch of the partition, or the log of a replica.
    """
    seen: dict[tuple[str, int], list[tuple[MetadataLog, PartitionHistory, PartitionState, PartitionState]]] = (
        defaultdict(list)
    )
    for log in partition.metadata:
        for topic_id in log.ids_of(partition.topic):
            history = log.partitions.get((topic_id, partition.number))
            for before, after in history.unclean if history is not None else ():
                assert history is not None
                seen[topic_id, after.epoch].append((log, history, before, after))
    for (topic_id, epoch), copies in sorted(seen.items()):
        log, _, before, after = copies[0]
        is_confirmed = (
            len({each[0].path for each in copies}) > 1
            or any(each[1].state.epoch > epoch for each in copies)
            or any(replica.latest >= epoch and replica.topic_id == topic_id for replica in usable)
        )
        if not is_confirmed:
            result.gaps.append(
                f"{partition.name}: {after.file} has an unclean election at its end, which nothing else confirms"
            )
            continue
        was_last = after.leader in before.last_known
        told = f"The controller elected broker {after.leader}, which was not in {_eligible(before)} just before."
        if was_last:
            told += " It was the last leader that is known, and nothing shows that anything was lost."
        evidence = tuple(_shows_state(partition, log, state, topic_id) for state in (before, after))
        yield PartitionFinding(
            what=What.UNCLEAN_ELECTION,
            topic=partition.topic,
            partition=partition.number,
            first_offset=None,
            last_offset=None,
            leader_epoch=epoch,
            time=after.time,
            told=told,
            evidence=evidence,
            around=evidence,
            passed=was_last,
        )


def _eligible(state: PartitionState) -> str:
    """Return the replicas that a clean election may choose, in words."""
    isr = f"the ISR ({','.join(map(str, state.isr)) or 'empty'})"
    return f"{isr} or the ELR ({','.join(map(str, state.eligible))})" if state.eligible else isr


def _shows_state(partition: DiskPartition, log: MetadataLog, state: PartitionState, topic_id: str | None) -> Event:
    leader = "nobody" if state.leader == NOBODY else f"broker {state.leader}"
    eligible = f", ELR {','.join(map(str, state.eligible))}" if state.eligible else ""
    unit = "line" if log.is_text else "byte"
    text = (
        f"{unit} {state.position}: metadata offset {state.offset}: {leader} leads epoch {state.epoch}, ISR"
        f" {','.join(map(str, state.isr)) or 'empty'}{eligible}, partition epoch {state.partition_epoch}"
    )
    return Event(
        kind=MessageKind.ON_DISK,
        file=state.file,
        line=state.position,
        time=state.time,
        text=text,
        topic=partition.topic,
        partition=partition.number,
        broker=log.broker,
        topic_id=topic_id,
        leader_epoch=state.epoch,
        partition_epoch=state.partition_epoch,
        isr=state.isr,
        leader=state.leader,
    )


def _shows_commit(partition: DiskPartition, commit: Commit, topic_id: str | None) -> Event:
    text = (
        f"{'line' if commit.is_text else 'byte'} {commit.byte}: group {commit.group} committed position"
        f" {commit.position} of {partition.name}, leader epoch {commit.leader_epoch}"
    )
    return Event(
        kind=MessageKind.ON_DISK,
        file=commit.file,
        line=commit.byte,
        time=commit.time,
        text=text,
        topic=partition.topic,
        partition=partition.number,
        broker=commit.broker,
        topic_id=topic_id,
        leader_epoch=commit.leader_epoch,
        offset=commit.position,
    )
