"""Where Kafka's own code and the model differ, known and left as they are, each with its least schedule and why.

The schedules are the shortest that were found; the last event of each is the one after which the field differs.
"""

from dataclasses import dataclass

from tests.conform.kafka.rungs import RUNGS, Rung


@dataclass(frozen=True)
class Difference:
    """A difference: on the releases named a field is not the model's.

    In the cases named, what breaks need not be what breaks in the model.
    """

    releases: tuple[str, ...]
    schedule: str
    field: str
    reason: str
    cases: tuple[str, ...] = ()

    def covers(self, rung: Rung, case: str) -> bool:
        """Whether this is why a release has another verdict on a case than the model."""
        return rung.name in self.releases and case in self.cases


_ALL = tuple(rung.name for rung in RUNGS)
_WITH_EPOCHS = tuple(rung.name for rung in RUNGS if rung.name not in ("0.10.2.2", "2.8.1 as 0.10.2"))

DIFFERENCES = (
    Difference(
        releases=("1.1.0",),
        schedule="produce A, produce A, fetch B, receive B, fetch B, receive B",
        field="replicas.B.hw",
        reason="Until KAFKA-7104 (1.1.1, 2.0.0) an answer with records carried the high watermark as it was after the"
        " fetch, so B's is one fetch ahead of the model's: kafka-1.1 is 1.1.1.",
    ),
    Difference(
        releases=_ALL,
        schedule="shrink B",
        field="applied",
        reason="A leader that has not heard of a follower since it leads takes it for lagging even while its own log is"
        " empty (Partition.isFollowerOutOfSync: an unknown log end offset is not the leader's); to the model it is 0."
        " The subject leaves that out of `shrink`, or most schedules would end with it.",
    ),
    Difference(
        releases=("4.3.1",),
        schedule="expire B, crash A, restart A",
        field="controller.isr",
        reason="The controller of the subject, which is not Kafka's, has no eligible leader replicas: the last member"
        " stays in the ISR.",
        cases=("kip-966-last-member-returns-empty",),
    ),
    Difference(
        releases=("2.8.0", "2.8.1", "3.4.0"),
        schedule="produce A, elect B, notify A, notify B, produce B, shrink A, fetch A, receive A",
        field="replicas.A.hw",
        reason="What a consumer may read of a follower in the middle of a `receive`, before the log is cut, cannot be"
        " seen after it (KAFKA-14704); what is shown then is the same.",
        cases=("kafka-14704-high-watermark-before-the-cut",),
    ),
    Difference(
        releases=("1.1.0", "1.1.1", "2.0.0", "2.0.1"),
        schedule="produce A, produce A, fetch B, receive B, produce A, fetch B, receive B, fetch B, receive B, elect B,"
        " notify B, produce B, elect A, notify B, fetch B, receive B, elect B, elect A, notify B, notify A, fetch A,"
        " receive A, notify A",
        field="replicas.A.hw",
        reason="Who becomes leader with a high watermark beyond its log starts from the beginning of the log"
        " (Replica.convertHWToLocalOffsetMetadata); in the model from its end.",
    ),
    Difference(
        releases=("2.8.1 as 0.11.0", "2.8.1 as 2.0"),
        schedule="produce A, expire B, notify B, fetch B, receive B",
        field="replicas.B.leo",
        reason="Since 2.1 a follower whose leader epoch cache is empty asks nobody where to cut its log, whatever"
        " protocol brokers speak (AbstractFetcherThread.fetchTruncatingPartitions), so that its first fetch brings"
        " records; the model has that together with fencing, which these have not.",
    ),
    Difference(
        releases=_WITH_EPOCHS,
        schedule="elect B, elect A, notify A, notify B, fetch A, receive A, elect B, notify B, notify B, produce B,"
        " fetch A, receive A, notify A, crash A, restart A",
        field="replicas.A.epochs",
        reason="After a crash the log is read again, and an epoch of a batch above all those in the leader epoch cache"
        " is put there (LogSegment.recover), such as one that becoming leader of an older epoch had removed.",
    ),
    Difference(
        releases=("3.9.0", "3.9.2", "4.3.1"),
        schedule="fetch B, crash B, restart B, notify A, expand B",
        field="applied",
        reason="A leader proposes no follower whose broker epoch is not the one in its metadata cache"
        " (Partition.isReplicaIsrEligible); in the model the controller alone looks, and turns the proposal down.",
    ),
)


def reason(rung: Rung, case: str) -> str | None:
    """Why a release may have another verdict on a case than the model; None if it may not."""
    return next((each.reason for each in DIFFERENCES if each.covers(rung, case)), None)
