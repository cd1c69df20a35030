"""The simplest schedule that Hypothesis can make of one that fails, whatever failing means."""

from collections.abc import Callable, Sequence

from hypothesis import Phase, find
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import NoSuchExample

from epochfuzz.strategies.profiles import UNATTENDED

_KEY = b"failure"


def simplest(failing: bytes, alphabet: Sequence[int], fails: Callable[[bytes], bool], attempts: int) -> bytes:
    """Return a failing schedule of events from the alphabet: shorter than the one given, or of earlier events, if
    possible.

    The schedule is written down as the choices that would have drawn it, and saved where `hypothesis.find` looks for
    earlier failures; from there on Hypothesis does what it does with any failing example.
    """
    database = InMemoryExampleDatabase()
    database.save(_KEY, choices_to_bytes(_choices(failing, alphabet)))
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
    """Return the choices with which a list strategy over the alphabet draws the schedule.

    Before each element it draws whether there is one more. Hypothesis does not shrink a saved sequence that it can
    replay exactly; one choice too many makes it do so.
    """
    choices: list[bool | int] = []
    for event in schedule:
        choices += [True, alphabet.index(event)]
    return [*choices, False, 0]
