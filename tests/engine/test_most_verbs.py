"""An event is a byte with the replica in its low three bits, so a model has up to 32 verbs, and all of them work."""

import numpy as np
import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.engine.shrink.shrink import shrink
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.model.core.fields import Field, State
from epochfuzz.model.core.model import Model
from epochfuzz.model.core.simple_model import (
    MOST_VERBS,
    ONE_REPLICA,
    REPLICA,
    ModelError,
    Property,
    Verb,
    simple_model,
    up_to,
)
from tests.engine.reached import LOSS, PATIENT, SETTINGS
from tests.engine.toy import append, copy, elect, is_lost

NEVER = 2  # a refusal


def idle(p: State, r: int) -> int:
    """Nothing."""
    return NEVER


def log_of(verbs: int) -> Model:
    """Return the toy log with a number of verbs, of which the last three are its own."""
    return simple_model(
        f"log of {verbs}",
        fields=(
            Field("length", up_to("records"), (REPLICA,)),
            Field("leader", ONE_REPLICA),
            Field("promised", up_to("records")),
            Field("held", up_to("elections")),
        ),
        verbs=(*[Verb(idle)] * (verbs - 3), Verb(append, dealt=20), Verb(copy, dealt=30), Verb(elect, dealt=10)),
        properties=(Property("no-loss", is_lost),),
        settings=dict(SETTINGS.numbers),
        bounds=("records", "elections"),
        protocols={"eager": {"waits": 0, "cuts": 1}, "patient": {"waits": 1, "cuts": 1}},
    )


FULL = log_of(MOST_VERBS)
EAGER = FULL.protocol("eager")


def test_the_last_event_of_a_model_with_32_verbs_is_255() -> None:
    assert FULL.events.parse("elect H") == 255
    assert FULL.events.text(255) == "elect H"


def test_a_search_with_32_verbs_visits_as_many_states_as_a_search_with_three_verbs() -> None:
    few, many = (explore(each, SETTINGS, LOSS, symmetric=False) for each in (PATIENT, FULL.protocol("patient")))
    assert (many.states, many.transitions, many.complete) == (few.states, few.transitions, True)
    shortest = explore(EAGER, FULL.settings, LOSS).shortest
    assert shortest is not None
    assert FULL.events.texts(shortest) == ["append A", "elect B"]


def test_random_runs_and_shrinking_work_with_the_last_verbs() -> None:
    walker = Walker([EAGER], FULL.settings, 1)
    tally = walker.walk(0, 200)
    assert 0 < tally.seen[0, 0] <= 200
    kinds = np.flatnonzero(tally.failures[0, 0])
    assert {*kinds.tolist()} <= {29, 30, 31}  # the verb of the event that first broke the property
    failing = walker.schedule(tally.candidates(0, 0)[0].schedule)
    assert FULL.events.texts(shrink(failing, EAGER, FULL.settings, LOSS)) == ["append A", "elect B"]


def test_a_model_with_33_verbs_is_an_error() -> None:
    with pytest.raises(ModelError, match="a model has at most 32 verbs; got 33"):
        log_of(MOST_VERBS + 1)
