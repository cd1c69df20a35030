"""What is in flight to a follower: the answer to its one request, as the leader gave it.

Learning a decision discards it, where the epoch of the request is compared (KIP-320), or the partition is truncating by
then. Up to Kafka 2.0.1 nothing is compared, and a decision that names the same leader as before touches no fetcher
(Partition.makeFollower, until KAFKA-7164 even if epochs were missed between): the answer counts as if nothing had been
learned. Where logs are checked on fetch nobody truncates first, and up to 4.0.0 nothing is compared either: an answer
counts if it is the same leader's, to a fetch from where the log still ends (KAFKA-18991).
"""

from epochfuzz.model import epoch_cache, truncation
from epochfuzz.model.goals import Goal
from epochfuzz.model.in_force import answers_survive_decisions
from epochfuzz.model.mechanisms import LateAnswer
from epochfuzz.model.state import NONE, Flight, State


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


def is_awaited(p: State, follower: int, leader: int) -> bool:
    """Whether the follower has to wait for an answer before it fetches. Each leader has a fetcher thread of its own."""
    if p.flight[follower] == Flight.NOTHING:
        return False
    return not answers_survive_decisions(p) or p.flight_leader[follower] == leader


def give_up_answer(p: State, follower: int) -> None:
    """The follower fetches: an answer of another leader is one that it waits for no more."""
    if answers_survive_decisions(p):
        discard_answer(p, follower)


def note_request(p: State, follower: int, leader: int) -> None:
    """Whose answer it is that is in flight now, and from which offset on the follower asked."""
    if answers_survive_decisions(p):
        p.flight_leader[follower] = leader
        p.flight_from[follower] = p.leo[follower]


def outlive_decision(p: State, follower: int, leader: int, epoch_missed: bool) -> None:
    """The follower learns who leads: its answer in flight is discarded, or else it is an old one from here on."""
    if p.flight[follower] == Flight.NOTHING:
        return
    if answers_survive_decisions(p):
        p.flight_old[follower] = 1
        p.goals |= Goal.ANSWER_OUTLIVED_AN_EPOCH
    elif touches_fetcher(p, follower, leader, epoch_missed):
        discard_answer(p, follower)
    else:
        p.goals |= Goal.ANSWER_OUTLIVED_AN_EPOCH


def touches_fetcher(p: State, follower: int, leader: int, epoch_missed: bool) -> bool:
    """Whether a decision makes the follower stop fetching, and start anew if it follows somebody."""
    if p.late_answer == LateAnswer.SAME_EPOCH or leader != p.known_leader[follower] or leader == follower:
        return True
    return truncation.is_due(p, False, epoch_missed)


def counts(p: State, follower: int) -> bool:
    """Whether the answer that arrives is taken for one to the fetch that the follower waits for.

    AbstractFetcherThread.processFetchRequest compares the fetch offset, in a thread that there is for each leader; a
    partition whose epoch cache is empty is truncating when it starts to fetch again, and takes no answer. In 2.8.0
    truncateOnFetchResponse had let go of the lock in between, and did not look again (KAFKA-13207).
    """
    if not answers_survive_decisions(p):
        return True
    if p.late_answer == LateAnswer.DIVERGING_ANY and p.flight[follower] == Flight.DIVERGING:
        return True
    if p.known_leader[follower] != p.flight_leader[follower] or p.leo[follower] != p.flight_from[follower]:
        return False
    return p.flight_old[follower] == 0 or epoch_cache.latest_epoch(p, follower) != NONE
