"""Find the simplest failing schedule that Hypothesis can derive from a given one."""

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
    """Return a schedule that still fails, if possible simpler than the given one: shorter, or with earlier events.

    `alphabet` lists the simplest events first. `fails` returns whether a schedule fails, and is called up to `attempts`
    times. The function encodes the schedule as the choices that make Hypothesis draw it, and saves the choices as if
    they were an earlier failure. `hypothesis.find` then shrinks the schedule like any other example. If the installed
    version of Hypothesis saves choices in another format, the function returns the given schedule.
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
    """Return the choices that make a Hypothesis list strategy over the alphabet draw the schedule.

    Before each element the strategy draws whether the list continues. The function appends one surplus choice, because
    Hypothesis does not shrink a saved example that it can replay exactly.
    """
    choices: list[bool | int] = []
    for event in schedule:
        choices += [True, alphabet.index(event)]
    return [*choices, False, 0]
