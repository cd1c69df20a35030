"""An exhaustive search visits every reachable state once: its counts are known, and are equal without keys."""

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import pytest

from epochfuzz.harness.engine.explore import explore as searching
from epochfuzz.harness.engine.explore.explore import NotConfirmed, explore
from epochfuzz.harness.engine.keys.packing import DoesNotFit
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.fields import Field
from epochfuzz.model.core.permutation import renamed
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.controller.controller import forget_superseded
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, Protocol, parse_protocol
from epochfuzz.model.kafka.vocabulary.state import VARIABLES, Partition

LOSS = properties.named("no-committed-loss").bit

# Protocol, holding protocols, configuration, and the numbers of states, transitions and levels.
COUNTS: Sequence[tuple[str, Sequence[str], dict[str, Any], tuple[int, int, int]]] = (
    ("hw", (), {"records": 2, "epochs": 2}, (114033, 513923, 37)),
    ("kip-101", (), {"records": 2, "epochs": 1}, (18749, 76787, 26)),
    ("kip-279", (), {"records": 1, "epochs": 2}, (14803, 70978, 25)),
    ("kip-320", (), {"records": 2, "epochs": 2}, (22542, 83209, 28)),
    ("kip-320:fencing=none", (), {"records": 1, "epochs": 3}, (25804, 114559, 28)),
    ("kip-320", (), {"replicas": 3, "records": 1, "epochs": 1}, (84892, 487180, 33)),
    ("hw", (), {"replicas": 3, "records": 1, "epochs": 1}, (342304, 2194496, 33)),
    ("kip-320", (), {"records": 2, "epochs": 1, "power_loss": True}, (34032, 172984, 30)),
    ("kip-101", (), {"records": 1, "epochs": 2, "power_loss": True}, (84884, 606492, 31)),
    ("kip-320", (), {"records": 2, "epochs": 1, "asynchronous_checkpoint": True}, (10844, 40651, 25)),
    ("hw", (), {"records": 2, "epochs": 1, "asynchronous_checkpoint": True}, (83504, 379777, 35)),
    ("kip-320", (), {"records": 3, "epochs": 1, "records_per_fetch": 2}, (11305, 36914, 26)),
    ("kip-279", (), {"records": 2, "epochs": 2, "records_per_fetch": 2}, (103957, 488030, 30)),
    ("kip-320", (), {"records": 2, "epochs": 1, "acks": "1"}, (3419, 11240, 22)),
    ("kip-320", (), {"records": 2, "epochs": 2, "min_insync_replicas": 2}, (32388, 119025, 30)),
    ("kip-101", (), {"records": 1, "epochs": 2, "unclean_leader_election": True}, (16608, 79424, 26)),
    ("hw", ["kip-101"], {"records": 1, "epochs": 1}, (147307, 727066, 43)),
    ("kip-320", ["hw"], {"records": 1, "epochs": 1}, (118598, 517173, 36)),
)


FIRST_OF_THEIR_KIND = {"hw", "kip-101", "kip-320", "kip-497"}  # the others have more events and take longer


def named(protocol: str, holding: Sequence[str], settings: dict[str, Any]) -> str:
    return " ".join([protocol, *(f"holding {name}" for name in holding), Configuration(**settings).text()])


@pytest.mark.parametrize(
    ("protocol", "holding", "settings", "counts"), [pytest.param(*row, id=named(*row[:3])) for row in COUNTS]
)
def test_an_exhaustive_search_has_the_known_numbers_of_states_transitions_and_levels(
    protocol: str, holding: Sequence[str], settings: dict[str, Any], counts: tuple[int, int, int]
) -> None:
    held = list(map(parse_protocol, holding))
    found = explore(parse_protocol(protocol), Configuration(**settings), 0, holding=held, symmetric=False)
    assert found.complete
    assert (found.states, found.transitions, found.depth) == counts


def whole(p: Partition) -> tuple[Any, ...]:
    """Return all fields of a state that a rule reads, as a hashable value."""
    values = (getattr(p, field.name) for field in VARIABLES if field.read(p))
    return tuple(
        tuple(value.values()) if isinstance(value, dict) else tuple(value) if isinstance(value, list) else value
        for value in values
    )


def any_of_its_class(p: Partition) -> tuple[Any, ...]:
    """Return the least of all states that differ from a state only in replica names."""
    return min(whole(renamed(p, names)) for names in permutations(range(p.replicas)))


def without_keys(
    protocol: Protocol, settings: Configuration, wanted: int, kept: Callable[[Partition], tuple[Any, ...]] = whole
) -> tuple[int, int, int, int | None]:
    """Search with whole states in a set. Returns the states, transitions and levels, and the shortest length."""
    start = Execution(protocol, settings)
    visited, level, transitions, depth = {kept(start.state)}, [start], 0, 0
    while level:
        next_level = []
        for execution in level:
            for event in settings.alphabet():
                after = execution.copy()
                if not after.apply(event):
                    continue
                forget_superseded(after.state)
                transitions += 1
                if kept(after.state) not in visited:
                    visited.add(kept(after.state))
                    if wanted and after.breaks(wanted):
                        return len(visited), transitions, depth, depth + 1
                    next_level.append(after)
        level, depth = next_level, depth + 1
    return len(visited), transitions, depth, None


@pytest.mark.thorough
@pytest.mark.parametrize(
    "settings",
    [
        Configuration(records=1, epochs=1),
        Configuration(records=1, epochs=0, power_loss=True),
        Configuration(records=1, epochs=0, asynchronous_checkpoint=True),
        Configuration(records=2, epochs=0, records_per_fetch=2),
    ],
    ids=Configuration.text,
)
@pytest.mark.parametrize(
    "protocol",
    [pytest.param(name, marks=[] if name in FIRST_OF_THEIR_KIND else [pytest.mark.slow]) for name in GENERATIONS],
)
def test_a_search_without_keys_has_equal_numbers_of_states_transitions_and_levels(
    protocol: str, settings: Configuration
) -> None:
    found = explore(GENERATIONS[protocol], settings, 0, symmetric=False)
    assert without_keys(GENERATIONS[protocol], settings, 0) == (found.states, found.transitions, found.depth, None)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("protocol", "settings"),
    [
        ("hw", Configuration(records=1, epochs=1)),
        pytest.param("kip-320", Configuration(records=2, epochs=1), marks=pytest.mark.slow),
    ],
)
def test_a_search_with_symmetry_visits_one_state_of_each_class_of_renamed_states(
    protocol: str, settings: Configuration
) -> None:
    found = explore(GENERATIONS[protocol], settings, 0)
    classes, *_, depth, _ = without_keys(GENERATIONS[protocol], settings, 0, any_of_its_class)
    assert (found.states, found.depth) == (classes, depth)


@pytest.mark.parametrize("property_", ["isr-complete", "no-committed-loss"])
def test_a_search_without_keys_breaks_a_property_at_an_equal_length(property_: str) -> None:
    wanted, settings = properties.named(property_).bit, Configuration(records=1, epochs=1)
    found = explore(GENERATIONS["hw"], settings, wanted)
    assert found.shortest is not None
    *_, length = without_keys(GENERATIONS["hw"], settings, wanted)
    assert length == len(found.shortest)


# A search detects its own errors. The command then shows no result of the search.


def test_a_value_that_does_not_fit_its_key_ends_a_command_as_an_internal_error(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = Field.bounds

    def too_narrow(self: Field, p: Partition) -> tuple[int, int]:
        return (0, 1) if self.name == "cache_size" else bounds(self, p)

    monkeypatch.setattr(Field, "bounds", too_narrow)
    with pytest.raises(DoesNotFit, match=r"^cache_size\[0\] is 2, and declared to be from 0 to 1$"):
        explore(GENERATIONS["kip-320"], Configuration(records=1, epochs=2), 0)
    ended = epochfuzz("explore", "--protocol", "kip-320", "--records", "1", "--epochs", "2")
    assert ended.code == 3
    assert "cache_size[0] is 2" in ended.err
    assert "holds" not in ended.out


@pytest.mark.parametrize(
    "command",
    [
        ["explore", "--protocol", "hw", "--records", "1", "--epochs", "1"],
        ["fuzz", "--protocol", "hw", "--schedules", "20000", "--seed", "7"],
        ["fuzz", "--breaks", "hw", "--holds", "kip-101"],
    ],
    ids=" ".join,
)
def test_no_command_certifies_a_schedule_that_replay_does_not_confirm(
    command: list[str], epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful(Execution):
        def broken(self) -> int:
            return 0

    monkeypatch.setattr(searching, "Execution", Forgetful)
    ended = epochfuzz(*command)
    assert ended.code == 3
    assert "does not break" in ended.err
    assert "minimal" not in ended.out


def test_a_search_replays_its_schedule_under_the_holding_protocols_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Suspicious(Execution):
        def breaks(self, wanted: int) -> bool:
            return True

    monkeypatch.setattr(searching, "Execution", Suspicious)
    with pytest.raises(NotConfirmed, match="breaks kip-101 as well"):
        explore(GENERATIONS["hw"], Configuration(records=1, epochs=1), LOSS, holding=[GENERATIONS["kip-101"]])
