"""What is in flight to a follower: the answer to its one request, as the leader gave it."""

from epochfuzz.model.state import Flight, State


def discard_answer(p: State, follower: int) -> None:
    """Nothing is in flight to the follower any more."""
    p.flight[follower] = Flight.NOTHING
    p.flight_count[follower] = 0
    p.flight_record[follower] = 0
    p.flight_record_epoch[follower] = 0
    p.flight_offset[follower] = 0
    p.flight_epoch[follower] = 0
