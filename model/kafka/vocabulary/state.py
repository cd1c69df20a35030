"""The state of a partition: the table of all its fields (model/core/fields.py)."""

from enum import Enum, IntEnum
from functools import lru_cache
from typing import Any

from epochfuzz.model.core import fields
from epochfuzz.model.core.fields import Axis, Field, Interpreted, Names, Table, never_read
from epochfuzz.model.kafka.vocabulary.configuration import MAX_EPOCHS, MAX_OFFSETS, Acks, Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import MAX_REPLICAS
from epochfuzz.model.kafka.vocabulary.in_force import (
    answers_survive_decisions,
    asks_for_epoch_ends,
    begins_epochs,
    commits_epochs,
    commits_known_epochs,
    fails_fetchers,
    falls_back_to_last_known_leader,
    forgets_records,
    has_consumer,
    has_consumer_group,
    has_heartbeats,
    has_lag_time,
    has_late_requests,
    has_retention,
    has_rival,
    has_transactions,
    keeps_metadata_of_stale_leaders,
    keeps_positions,
    leaders_check_eligibility,
    leaders_check_incarnations,
    loses_disks,
    loses_last_fetched_epoch,
    reads_isr_twice,
    registers_in_two_steps,
    remembers_cut_records,
    requests_isr_changes,
    retries,
    rival_decides,
    tells_controllers_apart,
    tracks_caught_up,
    tracks_eligible_leaders,
    tracks_incarnations,
    tracks_partition_epoch,
    tracks_waiting,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import (
    MECHANISMS,
    EpochCache,
    IsrExpansion,
    Truncation,
)
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

NONE = fields.NONE  # no leader, or no epoch known yet
EPOCHS = MAX_EPOCHS + 3  # the number of epochs: 0, one for each change, and two that healing may need


# The type of the argument `p` of rules: a Partition, or one record under Numba.
State = Any


class Phase(IntEnum):
    """The phase of a follower: it fetches, or it asks its leader for the offset to truncate to.

    A replica without a leader has the phase FETCHING, so that states that behave alike are equal.
    """

    FETCHING = 0
    TRUNCATING = 1
    TRUNCATING_FURTHER = 2  # KIP-279: the follower has truncated its log to the end of an older epoch, and asks again


class Flight(IntEnum):
    """The kind of response in flight to a follower."""

    NOTHING = 0
    RECORDS = 1
    OUT_OF_RANGE = 2
    EPOCH_END = 3
    DIVERGING = 4  # KIP-595: in place of records, the leader's end offset of the follower's last epoch
    WAITING = 5  # no response yet: the follower's fetch waits at the leader for records, see delayed_fetch.py


class FetchState(IntEnum):
    """The leader epoch that a follower's next fetch carries (PartitionFetchState.lag and lastFetchedEpoch)."""

    FRESH = 0  # the epoch of the follower's last record; no response has come yet, so the lag is empty
    WITH_EPOCH = 1  # the epoch of the follower's last record; the lag is known
    WITHOUT_EPOCH = 2  # no epoch, because the first response had no records (KAFKA-15510)


class Alter(IntEnum):
    """The state of a broker's AlterPartition request (KIP-497). A broker has at most one such request."""

    NOTHING = 0
    REQUEST = 1  # on its way to the controller
    APPLIED = 2  # a response in flight: the ISR is as proposed
    REFUSED = 3  # a response: INVALID_UPDATE_VERSION or FENCED_LEADER_EPOCH, because the partition has changed
    REVERTED = 4  # a response: INELIGIBLE_REPLICA, and the leader withdraws its proposal
    NEW_EPOCH = 5  # a response: the ISR is as proposed, in a leader epoch that the proposer does not lead yet


class Incarnation(IntEnum):
    """The progress of a broker's process since its start (BrokerLifecycleManager). Dead brokers count as CAUGHT_UP."""

    CAUGHT_UP = 0
    UNREGISTERED = 1  # the controller knows only the former process
    CATCHING_UP = 2  # registered, and fenced until it has read the metadata log up to its registration


class Marker(IntEnum):
    """The record ids of the markers that end a transaction in a log."""

    COMMIT = 14
    ABORT = 15


DELETED = 15  # the record id at each offset below a log start; there are no markers with retention


class Rival(IntEnum):
    """The state of the deposed controller after a fail-over of the controller. There is at most one fail-over."""

    ABSENT = 0
    DEPOSED = 1  # it does not know of the fail-over, and may make one update
    HAS_DECIDED = 2


class Transaction(IntEnum):
    """The state of the current transaction. There is one producer, with one transaction at a time."""

    NONE = 0
    OPEN = 1
    COMMITTING = 2  # decided; the coordinator does not know yet that the marker is replicated
    ABORTING = 3


class Holds(Enum):
    """The range of a field's elements. The range may depend on constants of a state, such as the number of replicas."""

    names: Names

    def __new__(cls, text: str, names: Names) -> "Holds":
        """Create a member. `text` names the range, and `names` tells whether an element refers to replicas."""
        holds = object.__new__(cls)
        holds._value_ = text
        holds.names = names
        return holds

    FLAG = "flag", Names.NOBODY
    CHOICE = "choice", Names.NOBODY  # a small number out of a fixed list
    COUNT = "count", Names.NOBODY  # of records: an offset, a log end offset, a high watermark
    COUNT_OR_NONE = "count or none", Names.NOBODY
    RECORD_OR_NONE = "record or none", Names.NOBODY
    ENTRIES = "entries", Names.NOBODY  # of a leader epoch cache
    EPOCH = "epoch", Names.NOBODY
    EPOCH_OR_NONE = "epoch or none", Names.NOBODY
    REPLICA_OR_NONE = "replica or none", Names.REPLICA  # NONE for no replica
    REPLICA_SET = "replica set", Names.REPLICAS  # bit r for replica r
    REPLICAS = "a number of replicas", Names.NOBODY
    RECORD_SET = "record set", Names.NOBODY  # bit i for record m<i>
    RECORDS = "records", Names.NOBODY  # a word: four bits for each offset, see log.py
    RECORD_EPOCHS = "leader epochs of records", Names.NOBODY  # a word in the same format
    FETCHED_RECORDS = "records of a Fetch response", Names.NOBODY  # a word for as many records as a response has
    FETCHED_EPOCHS = "leader epochs of the records of a Fetch response", Names.NOBODY
    OFFSETS = "offsets", Names.NOBODY  # a word: four bits for each record
    NUMBER = "number", Names.NOBODY  # no range is needed, because no search uses the field in its keys

    @property
    def narrow(self) -> bool:
        """True if a field with this range always stores an element as a byte."""
        return self is Holds.FLAG

    def bounds(self, p: State) -> tuple[int, int]:
        """Return the (least, greatest) value of an element, given the constants of `p`."""
        return {
            Holds.FLAG: (0, 1),
            Holds.CHOICE: (0, 3),
            Holds.COUNT: (0, offsets(p)),
            Holds.COUNT_OR_NONE: (NONE, offsets(p)),
            Holds.RECORD_OR_NONE: (NONE, p.records - 1),
            Holds.ENTRIES: (0, p.epochs + 1),
            Holds.EPOCH: (0, p.epochs),
            Holds.EPOCH_OR_NONE: (NONE, p.epochs),
            Holds.REPLICA_OR_NONE: (NONE, p.replicas - 1),
            Holds.REPLICA_SET: (0, (1 << p.replicas) - 1),
            Holds.REPLICAS: (0, p.replicas),
            Holds.RECORD_SET: (0, (1 << p.records) - 1),
            Holds.RECORDS: (0, _word(offsets(p), _greatest_record(p))),
            Holds.RECORD_EPOCHS: (0, _word(offsets(p), p.epochs)),
            Holds.FETCHED_RECORDS: (0, _word(min(p.records_per_fetch, offsets(p)), _greatest_record(p))),
            Holds.FETCHED_EPOCHS: (0, _word(min(p.records_per_fetch, offsets(p)), p.epochs)),
            Holds.OFFSETS: (0, _word(p.records, offsets(p) - 1)),
            Holds.NUMBER: (0, 0),
        }[self]


def offsets(p: State) -> int:
    """Return the number of offsets that a log has room for. With transactions a marker may follow every record."""
    return min(2 * p.records, MAX_OFFSETS) if has_transactions(p) else int(p.records)


def _greatest_record(p: State) -> int:
    return max(Marker) if has_transactions(p) or has_retention(p) else p.records - 1


def _word(size: int, greatest: int) -> int:
    """Return an int that has the number `greatest` in each of `size` places of four bits."""
    return sum(greatest << 4 * place for place in range(size))


REPLICA = Axis(MAX_REPLICAS, lambda p: int(p.replicas), of_replicas=True)
# The entries of a leader epoch cache, and the controller's updates by epoch.
ENTRY = Axis(EPOCHS, lambda p: int(p.epochs) + 1, of_replicas=False, narrow=True)
DECISION = Axis(EPOCHS, lambda p: int(p.epochs) + 1, of_replicas=False, narrow=True)

_R = (REPLICA,)


def _cache_is_read(p: State) -> bool:
    # A leader also answers a consumer's OffsetsForLeaderEpoch from the cache.
    return bool(p.truncation != Truncation.HIGH_WATERMARK or asks_for_epoch_ends(p))


def _records_have_one_offset(p: State) -> bool:
    return not retries(p)


def _stale_requests_are_read(p: State) -> bool:
    return tracks_incarnations(p) and requests_isr_changes(p)


VARIABLES: tuple[Field, ...] = (
    # Logs, and their records in flight, see log.py.
    Field("log_record", Holds.RECORDS, _R),
    Field("log_epoch", Holds.RECORD_EPOCHS, _R),
    Field("flight_record", Holds.FETCHED_RECORDS, _R),  # the records in a Fetch response
    Field("flight_record_epoch", Holds.FETCHED_EPOCHS, _R),
    # For each record id: the offset of its first append; with retries, the offset at the leader that received it last.
    Field("record_offset", Holds.OFFSETS),
    Field("goals", Holds.NUMBER, read=never_read),  # the goals that this schedule has reached, see goals.py
    # Each replica's disk.
    Field(
        "standing", Holds.RECORD_SET, _R, read=_records_have_one_offset
    ),  # the records that stand at their own offset in r's log
    Field("leo", Holds.COUNT, _R),
    Field("log_start", Holds.COUNT, _R, read=has_retention, narrow=True),
    Field("high_watermark", Holds.COUNT, _R),
    # The high watermark in replication-offset-checkpoint.
    Field("checkpointed", Holds.COUNT, _R, read=lambda p: bool(p.asynchronous_checkpoint)),
    Field("flushed", Holds.COUNT, _R, read=lambda p: bool(p.power_loss)),
    Field("cache_size", Holds.ENTRIES, _R, read=_cache_is_read),  # entries of leader-epoch-checkpoint
    Field("cache_epoch", Holds.EPOCH, (REPLICA, ENTRY), read=_cache_is_read),
    Field("cache_start", Holds.COUNT, (REPLICA, ENTRY), read=_cache_is_read),
    # Each replica's memory, which is lost when its process dies.
    Field("up", Holds.FLAG, _R, start=1),
    Field("incarnation", Incarnation, _R, read=registers_in_two_steps),
    Field("known_epoch", Holds.EPOCH_OR_NONE, _R),  # the epoch of the latest update that r learned
    Field("known_leader", Holds.REPLICA_OR_NONE, _R),  # r itself: r presumes leadership
    Field("phase", Phase, _R),
    Field("isr", Holds.REPLICA_SET, _R),  # the ISR that a leader knows; empty for other replicas
    # Of a leader: its LEO when it became leader.
    Field("epoch_start", Holds.COUNT, _R, read=lambda p: bool(p.isr_expansion == IsrExpansion.EPOCH_START)),
    # Of a leader: its LEO when it began to lead without a break; 0 once its high watermark is past that offset.
    Field("led_from", Holds.COUNT, _R, read=lambda p: bool(p.acks == Acks.ALL and not tracks_waiting(p))),
    Field(
        "waiting", Holds.RECORD_SET, _R, read=tracks_waiting
    ),  # the acks=all requests that wait at r, see produce_purgatory.py
    # The number of records that r considers appended, including truncated records, see idempotence.py.
    Field("remembered", Holds.COUNT, _R, read=remembers_cut_records, narrow=True),
    Field("remote_leos", Holds.COUNT_OR_NONE, (REPLICA, REPLICA), start=NONE),  # [leader, follower]
    Field("flight", Flight, _R),
    # The number of records in a Fetch response. In a diverging response, the leader's high watermark.
    Field("flight_count", Holds.COUNT, _R),
    Field("flight_offset", Holds.COUNT_OR_NONE, _R),  # the leader's high watermark, its LEO, or the end of an epoch
    Field("flight_epoch", Holds.EPOCH_OR_NONE, _R),  # the epoch that ends there, or that a waiting fetch carries
    # If responses survive updates: the responding leader, the fetch offset, and whether r has learned an update since.
    Field("flight_leader", Holds.REPLICA_OR_NONE, _R, start=NONE, read=answers_survive_decisions, narrow=True),
    Field("flight_from", Holds.COUNT, _R, read=answers_survive_decisions, narrow=True),
    Field("flight_old", Holds.FLAG, _R, read=answers_survive_decisions),
    Field("flight_log_start", Holds.COUNT, _R, read=has_retention, narrow=True),  # the leader's, in any response
    Field("fetch_state", FetchState, _R, read=loses_last_fetched_epoch),
    Field("fetcher_failed", Holds.FLAG, _R, read=fails_fetchers),
    # Of a leader: the ISR that it has proposed, 0 for none. And whether it knows the current partition epoch.
    Field("pending_isr", Holds.REPLICA_SET, _R, read=requests_isr_changes, narrow=True),
    Field("isr_current", Holds.FLAG, _R, read=tracks_partition_epoch),
    # r's AlterPartition request, or the response to it. `alter_isr`: the proposed ISR. `alter_current`: the request or
    # the response has the current partition epoch. `alter_mine`: it belongs to r's pending proposal. `alter_stale`: the
    # added replicas that have restarted since r received a fetch from them.
    Field("alter", Alter, _R, read=requests_isr_changes),
    Field("alter_isr", Holds.REPLICA_SET, _R, read=requests_isr_changes, narrow=True),
    Field("alter_current", Holds.FLAG, _R, read=requests_isr_changes),
    Field("alter_mine", Holds.FLAG, _R, read=requests_isr_changes),
    Field("alter_stale", Holds.REPLICA_SET, _R, read=_stale_requests_are_read, narrow=True),
    # Of a leader: the followers that have restarted since it received a fetch from them.
    Field("remote_stale", Holds.REPLICA_SET, _R, read=tracks_incarnations, narrow=True),
    # Of a leader: the followers that have fetched from it in this epoch. `remote_leos` may be from an earlier epoch.
    Field("fetched", Holds.REPLICA_SET, _R, read=keeps_positions, narrow=True),
    # Of a leader: the replicas outside its ISR that may have been caught up within replica.lag.time.max.ms. With
    # `lag_time`: all replicas that were caught up within this time. `fetched_at`: the leader's LEO when the follower
    # last fetched, NONE if the last fetch is older than the lag time.
    Field("caught_up", Holds.REPLICA_SET, _R, read=tracks_caught_up, narrow=True),
    Field("fetched_at", Holds.COUNT_OR_NONE, (REPLICA, REPLICA), start=NONE, read=has_lag_time),
    # Of the leader of the current epoch, see leader_metadata.py. `shown_fenced`: the replicas that its metadata shows
    # fenced. `shown_outdated`: the replicas that have registered again since. `shown_otherwise`: the replicas whose
    # last fetch had another broker epoch than the metadata shows.
    Field("shown_fenced", Holds.REPLICA_SET, _R, read=leaders_check_eligibility, narrow=True),
    Field("shown_outdated", Holds.REPLICA_SET, _R, read=leaders_check_eligibility, narrow=True),
    Field("shown_otherwise", Holds.REPLICA_SET, _R, read=leaders_check_incarnations, narrow=True),
    # Whether the leader knows its ISR only from a response, and has not read the change in the metadata log yet.
    Field("unread_isr", Holds.FLAG, _R, read=reads_isr_twice),
    # The controller.
    Field("controller_epoch", Holds.EPOCH),
    Field("decided_leader", Holds.REPLICA_OR_NONE, (DECISION,)),
    Field("decided_isr", Holds.REPLICA_SET, (DECISION,)),
    Field("fenced", Holds.REPLICA_SET, read=has_heartbeats, narrow=True),
    # By epoch: the replicas that were fenced when the next epoch began.
    Field("decided_fenced", Holds.REPLICA_SET, (DECISION,), read=keeps_metadata_of_stale_leaders),
    # Eligible leader replicas, the replicas that shut down cleanly, and the last leader if there is no leader.
    Field("elr", Holds.REPLICA_SET, read=tracks_eligible_leaders, narrow=True),
    Field("clean", Holds.REPLICA_SET, read=tracks_eligible_leaders, narrow=True),
    Field(
        "last_leader",
        Holds.REPLICA_OR_NONE,
        start=NONE,
        read=falls_back_to_last_known_leader,
        narrow=True,
    ),
    # The deposed controller after a fail-over. `rival_epoch`, `rival_leader`, `rival_isr`: the update that it knows.
    # Its own update opens the next epoch and replaces `rival_leader`. `met`: the replicas that have received a request
    # of the new controller.
    Field("rival", Rival, read=has_rival),
    Field("rival_epoch", Holds.EPOCH, read=rival_decides, narrow=True),
    Field("rival_leader", Holds.REPLICA_OR_NONE, start=NONE, read=rival_decides, narrow=True),
    Field("rival_isr", Holds.REPLICA_SET, read=rival_decides, narrow=True),
    Field("met", Holds.REPLICA_SET, read=tells_controllers_apart, narrow=True),
    # The transaction, the records produced in it, and the records of all committed transactions.
    Field("transaction", Transaction, read=has_transactions),
    Field("transaction_records", Holds.RECORD_SET, read=has_transactions),
    Field("committed_records", Holds.RECORD_SET, read=has_transactions),
    # `late_record`: the record whose Produce request is late, NONE for none. `late_marker`: the decision on the last
    # transaction that has ended, NONE if no copy of its marker can arrive any more.
    Field("late_record", Holds.RECORD_OR_NONE, (), start=NONE, read=has_late_requests, narrow=True),
    Field("late_marker", Transaction, read=has_late_requests),
    # The number of power losses that lost records, up to min.insync.replicas.
    Field("lossy_failures", Holds.REPLICAS, read=lambda p: tracks_eligible_leaders(p) and loses_disks(p), narrow=True),
    # Whether a replica joined the ISR in the last event without a record below its proposer's high watermark.
    Field("joined_incomplete", Holds.FLAG),
    # The guarantees: the records that clients saw, and those that were acknowledged.
    Field("produced", Holds.COUNT),
    Field("exposed", Holds.RECORD_SET, read=_records_have_one_offset),
    Field("acked", Holds.RECORD_SET),
    # The records that `trim` has deleted on a replica.
    Field("deleted", Holds.RECORD_SET, read=has_retention),
    # With retries: the record that consumers saw at each offset, and whether they saw two records at one offset, see
    # ideal_log.py.
    Field("seen", Holds.RECORDS, read=retries),
    Field("seen_end", Holds.COUNT, read=retries, narrow=True),
    Field("seen_otherwise", Holds.FLAG, read=retries),
    # The producer's second epoch. `epoch_record`: its first record, NONE if the epoch has not begun. `epoch_offset`:
    # the offset where this epoch starts in r's log. `flight_epoch_offset`: where it starts in the log of the leader
    # that sent the response in flight to r. NONE if the log has no record of the epoch.
    Field("epoch_record", Holds.COUNT_OR_NONE, (), start=NONE, read=begins_epochs, narrow=True),
    Field("epoch_offset", Holds.COUNT_OR_NONE, _R, start=NONE, read=begins_epochs, narrow=True),
    Field("flight_epoch_offset", Holds.COUNT_OR_NONE, _R, start=NONE, read=begins_epochs, narrow=True),
    # The offset of the producer snapshot that r has loaded. r does not recognise earlier records, except the last one.
    Field("snapshot_offset", Holds.COUNT, _R, read=forgets_records, narrow=True),
    # The consumer: the offset that it reads next, the epoch of the record that it read last, the leader epoch that it
    # knows, and the records that it has read.
    Field("position", Holds.COUNT, read=has_consumer, narrow=True),
    Field("position_epoch", Holds.EPOCH_OR_NONE, (), start=NONE, read=asks_for_epoch_ends, narrow=True),
    Field("consumer_epoch", Holds.EPOCH, read=has_consumer, narrow=True),
    Field("delivered", Holds.RECORD_SET, read=has_consumer),
    # The position that the consumer has committed, and the epoch of the record before it, NONE if it is unknown.
    Field("committed", Holds.COUNT, read=has_consumer_group, narrow=True),
    Field("committed_epoch", Holds.EPOCH_OR_NONE, (), start=NONE, read=commits_epochs, narrow=True),
    Field("committed_known_epoch", Holds.EPOCH_OR_NONE, (), start=NONE, read=commits_known_epochs, narrow=True),
)

# The constants of a run: a choice for each mechanism, the settings as numbers, and the number of the mutant that is
# planted in the rules, 0 for none. No rule writes these fields.
CONSTANTS: tuple[Field, ...] = (
    *(Field(name, choices) for name, choices in MECHANISMS.items()),
    *(Field(name, Holds.NUMBER) for name in Configuration().numbers()),
    Field("defect", Holds.NUMBER),
)
TABLE = Table(VARIABLES, CONSTANTS)


class Partition(Interpreted):
    """The state of a partition as a Python object, for rules that run in Python without Numba."""

    __slots__ = TABLE.names
    table = TABLE


def initial(protocol: Protocol, settings: Configuration) -> Partition:
    """Return the initial state of a partition: replica A leads epoch 0, and all logs are empty.

    All replicas are up, in the ISR, and know epoch 0.
    """
    return _initial(protocol, settings).copy()


@lru_cache(maxsize=256)
def _initial(protocol: Protocol, settings: Configuration) -> Partition:
    p = Partition()
    for name, number in (protocol.numbers() | settings.numbers()).items():
        setattr(p, name, number)
    p.defect = protocol.defect
    everyone = (1 << settings.replicas) - 1
    p.decided_isr[0] = everyone
    p.isr[0] = everyone
    p.caught_up[0] = everyone & ~1 if has_lag_time(p) else 0
    p.isr_current[0] = int(tracks_partition_epoch(p))
    if p.epoch_cache == EpochCache.KAFKA_7415:
        p.cache_size[0] = 1  # A became leader of epoch 0 at offset 0
    return p
