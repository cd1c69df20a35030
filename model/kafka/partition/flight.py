"""The response in flight to a follower, and the checks that the follower makes when the response arrives.

A follower has one request at a time. With KIP-320 the follower compares the leader epoch of its request with the epoch
that it knows now, and discards a response that arrives after the next leader-and-ISR update. Kafka up to 2.1.0, and 2.8
to 4.0.0, does not compare the epochs. In these releases the follower accepts an old response if it still fetches from
the responding leader at the requested offset, and is not truncating (KAFKA-18991).
"""

from epochfuzz.model.kafka.partition import truncation_on_fetch
from epochfuzz.model.kafka.storage import epoch_cache, log, log_start, producer_epochs
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import (
    answers_survive_decisions,
    checks_logs_on_fetch,
    fails_fetchers,
    has_retention,
    skips_question,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import LateAnswer
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, Phase, State


def discard_answer(p: State, follower: int) -> None:
    """Clear the response in flight to the follower."""
    # All fields of the response are cleared, so that states without a response are equal.
    p.flight[follower] = Flight.NOTHING
    p.flight_count[follower] = 0
    p.flight_record[follower] = 0
    p.flight_record_epoch[follower] = 0
    p.flight_offset[follower] = 0
    p.flight_epoch[follower] = 0
    p.flight_leader[follower] = NONE
    p.flight_from[follower] = 0
    p.flight_old[follower] = 0
    if has_retention(p):
        p.flight_log_start[follower] = 0
    producer_epochs.forget_fetch(p, follower)


def carry_records(p: State, leader: int, follower: int, start: int) -> int:
    """Send the leader's records, beginning at offset `start`, to the follower. Returns the number of records."""
    count = min(p.records_per_fetch, p.leo[leader] - start)
    p.flight[follower] = Flight.RECORDS
    p.flight_count[follower] = count
    p.flight_record[follower] = log.prefix(p.log_record[leader] >> (4 * start), count)
    p.flight_record_epoch[follower] = log.prefix(p.log_epoch[leader] >> (4 * start), count)
    producer_epochs.note_fetch(p, leader, follower)
    log_start.carry(p, leader, follower)
    return count


def is_awaited(p: State, follower: int, leader: int) -> bool:
    """Return whether the follower has to wait for a response before it can fetch from the leader.

    A follower with a fetcher thread for each leader waits only for a response from this leader.
    """
    if p.flight[follower] == Flight.NOTHING:
        return False
    return not answers_survive_decisions(p) or p.flight_leader[follower] == leader


def give_up_answer(p: State, follower: int) -> None:
    """Discard the response of an earlier leader, because the follower now fetches from another leader."""
    if answers_survive_decisions(p):
        discard_answer(p, follower)


def note_request(p: State, follower: int, leader: int) -> None:
    """Store the responding leader and the follower's fetch offset, to check the response when it arrives."""
    if answers_survive_decisions(p):
        p.flight_leader[follower] = leader
        p.flight_from[follower] = p.leo[follower]


def outlive_decision(p: State, follower: int) -> None:
    """Discard the response in flight when the follower learns a leader-and-ISR update, or mark the response as old.

    In 2.8.0 the follower has already processed a diverging response (a response that truncates the log) at this point.
    Only the truncation is left.
    """
    if p.flight[follower] == Flight.NOTHING:
        return
    if answers_survive_decisions(p):
        if p.late_answer == LateAnswer.DIVERGING_ANY:
            truncation_on_fetch.take_before_the_cut(p, follower)
            if fails_fetchers(p) and p.fetcher_failed[follower]:
                discard_answer(p, follower)
                return
        p.flight_old[follower] = 1 if checks_logs_on_fetch(p) else 0
        p.goals |= Goal.ANSWER_OUTLIVED_AN_EPOCH
    else:
        discard_answer(p, follower)


def counts(p: State, follower: int) -> bool:
    """Return whether the follower accepts the response in flight.

    AbstractFetcherThread.processFetchRequest compares the fetch offset, and requires that the partition is not
    truncating. A partition with an empty epoch cache is truncating when it starts to fetch again, even if logs are
    checked on fetch. In 2.8.0 the fetcher thread released its lock before truncateOnFetchResponse, which did not repeat
    the comparison. So a late diverging response always counted (KAFKA-13207).
    """
    if not answers_survive_decisions(p):
        return True
    if p.late_answer == LateAnswer.DIVERGING_ANY and p.flight[follower] == Flight.DIVERGING:
        return True
    if not checks_logs_on_fetch(p):
        return counts_where_followers_ask(p, follower)
    if p.known_leader[follower] != p.flight_leader[follower] or p.leo[follower] != p.flight_from[follower]:
        return False
    return p.flight_old[follower] == 0 or epoch_cache.latest_epoch(p, follower) != NONE


def counts_where_followers_ask(p: State, follower: int) -> bool:
    """Return whether the follower accepts the response, in releases where followers ask for an epoch's end first.

    In these releases a follower asks for the end of its last epoch before it fetches. Until KAFKA-7786 (2.1.1) the
    follower accepts an epoch's end offset if it still follows the responding leader, whatever the leader epoch of the
    request is (AbstractFetcherThread.maybeTruncate). The follower accepts a Fetch response only if it is not
    truncating. In 2.1 each leader-and-ISR update makes the follower truncate, even if it has no epoch to ask for.
    """
    if p.known_leader[follower] != p.flight_leader[follower]:
        return False
    if p.flight[follower] == Flight.EPOCH_END:
        return True
    if skips_question(p) and p.flight_old[follower] != 0:
        return False
    return p.leo[follower] == p.flight_from[follower] and p.phase[follower] == Phase.FETCHING
