"""What is in flight to a follower: the answer to its one request, as the leader gave it.

Learning a decision discards it where the epoch of the request is compared (KIP-320). Up to Kafka 2.0.1 nothing is
compared, nor is it from 2.8 to 4.0.0, where logs are checked on fetch: there is a fetcher thread for each leader, which
takes the answer that it waits for, be the partition taken from it and given back meanwhile (KAFKA-18991). A Fetch has
to be from where the log still ends, and meets no answer while the partition truncates first.
"""

from epochfuzz.model.kafka.partition import truncation_on_fetch
from epochfuzz.model.kafka.storage import epoch_cache, log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import (
    answers_survive_decisions,
    checks_logs_on_fetch,
    skips_question,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import LateAnswer
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, Phase, State


def discard_answer(p: State, follower: int) -> None:
    """Nothing is in flight to the follower any more."""
    p.flight[follower] = Flight.NOTHING
    p.flight_count[follower] = 0
    p.flight_record[follower] = 0
    p.flight_record_epoch[follower] = 0
    p.flight_offset[follower] = 0
    p.flight_epoch[follower] = 0
    p.flight_leader[follower] = NONE
    p.flight_from[follower] = 0
    p.flight_old[follower] = 0


def carry_records(p: State, leader: int, follower: int, start: int) -> int:
    """Put the leader's records from an offset on in flight to the follower. Returns how many these are."""
    count = min(p.records_per_fetch, p.leo[leader] - start)
    p.flight[follower] = Flight.RECORDS
    p.flight_count[follower] = count
    p.flight_record[follower] = log.prefix(p.log_record[leader] >> (4 * start), count)
    p.flight_record_epoch[follower] = log.prefix(p.log_epoch[leader] >> (4 * start), count)
    return count


def is_awaited(p: State, follower: int, leader: int) -> bool:
    """Whether the follower has to wait for an answer before it fetches. Each leader has a fetcher thread of its own."""
    if p.flight[follower] == Flight.NOTHING:
        return False
    return not answers_survive_decisions(p) or p.flight_leader[follower] == leader


def give_up_answer(p: State, follower: int) -> None:
    """Forget an answer of another leader as the follower fetches: it waits for that no more."""
    if answers_survive_decisions(p):
        discard_answer(p, follower)


def note_request(p: State, follower: int, leader: int) -> None:
    """Whose answer it is that is in flight now, and from which offset on the follower asked."""
    if answers_survive_decisions(p):
        p.flight_leader[follower] = leader
        p.flight_from[follower] = p.leo[follower]


def outlive_decision(p: State, follower: int) -> None:
    """Discard the response in flight of a follower that learns who leads, or else take it for an old one from here on.

    In 2.8.0 one that tells of a divergence has been taken by then, but for the truncation; before that it is dropped.
    """
    if p.flight[follower] == Flight.NOTHING:
        return
    if answers_survive_decisions(p):
        if p.late_answer == LateAnswer.DIVERGING_ANY:
            truncation_on_fetch.take_before_the_cut(p, follower)
        p.flight_old[follower] = 1 if checks_logs_on_fetch(p) else 0
        p.goals |= Goal.ANSWER_OUTLIVED_AN_EPOCH
    else:
        discard_answer(p, follower)


def counts(p: State, follower: int) -> bool:
    """Whether the answer that arrives is taken for one to the request that the follower waits for.

    AbstractFetcherThread.processFetchRequest compares the fetch offset, and that the partition does not truncate; a
    partition whose epoch cache is empty does when it starts to fetch again, even where logs are checked on fetch. In
    2.8.0 truncateOnFetchResponse had let go of the lock in between, and did not look again (KAFKA-13207).
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
    """Return the same where followers ask for the end of an epoch before they fetch.

    AbstractFetcherThread.maybeTruncate looks only whether the thread has the partition at all, until KAFKA-7786 (2.1.1)
    compared the leader epoch of the request. A fetch response finds the partition truncating, as 2.1 has it do in each
    epoch, be there an epoch to ask for or not.
    """
    if p.known_leader[follower] != p.flight_leader[follower]:
        return False
    if p.flight[follower] == Flight.EPOCH_END:
        return True
    if skips_question(p) and p.flight_old[follower] != 0:
        return False
    return p.leo[follower] == p.flight_from[follower] and p.phase[follower] == Phase.FETCHING
