"""Find the simplest failing schedule that Hypothesis can derive from a given one, for any definition of failing."""

from collections.abc import Callable, Sequence

from hypothesis import Phase, find
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.errors import NoSuchExample

from epochfuzz.strategies.private_hypothesis import saved_form
from epochfuzz.strategies.profiles import UNATTENDED

_KEY = b"failure"


def simplest(failing: bytes, alphabet: Sequence[int], fails: Callable[[bytes], bool], attempts: int) -> bytes:
    """Return a failing schedule of events from the alphabet, if possible a simpler one than the given schedule.

    A simpler schedule is shorter, or has events that come earlier in the alphabet. The function encodes the given
    schedule as the choices that draw it, and saves them where `hypothesis.find` looks for earlier failures. From there
    on Hypothesis shrinks it as any failing example. A version of Hypothesis that saves choices in another way returns
    the given schedule.
    """
    saved = saved_form(_choices(failing, alphabet))
    if saved is None:
        return failing
    database = InMemoryExampleDatabase()
    database.save(_KEY, saved)
    try:
        found = find(
            st.lists(st.sampled_from(alphabet)),
            lambda events: fails(bytes(events)),
            settings=hypothesis_settings(
                UNATTENDED, database=database, max_examples=attempts, phases=[Phase.reuse, Phase.shrink]
            ),
            database_key=_KEY,
        )
    except NoSuchExample:
        return failing
    return bytes(found)


def _choices(schedule: bytes, alphabet: Sequence[int]) -> list[bool | int]:
    """Return the choices that make a list strategy over the alphabet draw the schedule.

    Before each element the strategy draws whether there is another one. Hypothesis does not shrink a saved sequence
    that it can replay exactly, so the function appends one surplus choice.
    """
    choices: list[bool | int] = []
    for event in schedule:
        choices += [True, alphabet.index(event)]
    return [*choices, False, 0]
