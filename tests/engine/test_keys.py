"""Keys of the toy log's states: different states have different keys, except renamed states under symmetry."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from epochfuzz.harness.engine.explore.expansion import Expansion
from epochfuzz.harness.engine.keys import packing
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.permutation import renamed
from tests.engine.reached import EAGER, PATIENT, SETTINGS, classes, reached, values
from tests.engine.toy import LOG, elect

START = Execution(PATIENT, SETTINGS).state


def key(p: Any, layout: packing.Layout) -> np.ndarray:
    packed, record = np.zeros(layout.words, np.int64), p.to_record().reshape(1)
    for kind, table in ((np.int8, layout.bytes_table), (np.int64, layout.words_table)):
        assert packing.pack_part(record.view(kind), 0, table, layout.words, packed, 0) == 0
    return packed


def test_unpacking_a_key_restores_the_state() -> None:
    layout = packing.layout_for([START])
    for _, here in reached(EAGER).values():
        record = START.to_record().reshape(1)
        for kind, table in ((np.int8, layout.bytes_table), (np.int64, layout.words_table)):
            packing.unpack_part(key(here.state, layout), 0, table, layout.words, record.view(kind), 0)
        assert values(type(START).from_record(record[0])) == values(here.state)


def test_a_key_has_only_the_bits_that_the_bounds_need() -> None:
    layout = packing.layout_for([START])
    assert sum(element.bits for element in layout.elements) == 3 * 2 + 2 + 2 + 2  # lengths, leader, promised, held
    assert (layout.words, layout.halves) == (1, 1)


def test_a_value_beyond_its_bounds_raises_an_error() -> None:
    layout, p = packing.layout_for([START]), START.copy()
    p.promised = 4
    with pytest.raises(packing.DoesNotFit, match="promised is 4, and declared to be from 0 to 2"):
        layout.check(p)


@pytest.mark.parametrize("symmetric", [True, False])
def test_compiled_keys_distinguish_all_states_except_renamed_states_under_symmetry(symmetric: bool) -> None:
    expansion = Expansion(LOG, [START], symmetric, jobs=1)
    keys = {
        values(here.state): expansion.put([here.state], expansion.canonical).tobytes()
        for _, here in reached(EAGER).values()
    }
    assert len(set(keys.values())) == len(classes(EAGER) if symmetric else keys)


def test_a_renaming_of_replicas_commutes_with_the_rules_of_the_toy_log() -> None:
    for names in permutations(range(SETTINGS.replicas)):
        for _, here in reached(PATIENT).values():
            other = here.copy()
            other.state = renamed(here.state, names)
            assert other.broken() == here.broken()
            for event in here.alphabet():
                after, other_after = here.copy(), other.copy()
                assert after.apply(event) == other_after.apply(event & ~7 | names[event & 7])
                assert values(renamed(after.state, names)) == values(other_after.state)


def test_an_interpreted_rule_returns_the_result_of_the_written_rule() -> None:
    for _, here in reached(PATIENT).values():
        for r in range(SETTINGS.replicas):
            assert here.copy().attempt(2 << 3 | r) == elect(here.state.copy(), r)
