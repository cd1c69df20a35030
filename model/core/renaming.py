"""Renaming: the same state with the replicas' names exchanged, as the declarations of the fields say.

The rules treat replicas alike: what they do to a state, they do to the renamed state under the renamed event. A test
holds every protocol to that, and searches rely on it (harness/engine/keys/symmetry.py).
"""

from collections.abc import Sequence
from itertools import product

from epochfuzz.model.kafka.vocabulary import state
from epochfuzz.model.kafka.vocabulary.events import verb_of
from epochfuzz.model.kafka.vocabulary.state import DECISION, ENTRY, NONE, REPLICA, Field, Holds, Partition

# What an element holds says how its value is renamed. A kind that is in none of these has to be put into one.
NAMES_REPLICA = frozenset({Holds.REPLICA_OR_NONE})
NAMES_REPLICAS = frozenset({Holds.REPLICA_SET})
NAMES_NOBODY = frozenset({
    Holds.FLAG, Holds.CHOICE, Holds.COUNT, Holds.COUNT_OR_NONE, Holds.ENTRIES, Holds.EPOCH, Holds.EPOCH_OR_NONE,
    Holds.RECORD_SET, Holds.RECORDS, Holds.RECORD_EPOCHS, Holds.FETCHED_RECORDS, Holds.FETCHED_EPOCHS, Holds.OFFSETS,
    Holds.REPLICAS, Holds.NUMBER,
})  # fmt: skip
_OTHER_AXES = (ENTRY, DECISION)  # which number no replicas


def check_can_be_renamed(field: Field) -> None:
    """Raises TypeError for a field of which nothing says what becomes of it when replicas are renamed."""
    kinds = NAMES_REPLICA | NAMES_REPLICAS | NAMES_NOBODY
    if isinstance(field.holds, Holds) and field.holds not in kinds:
        raise TypeError(f"{field.name} cannot be renamed: model/core/renaming.py does not have {field.holds}")
    if not all(axis is REPLICA or axis in _OTHER_AXES for axis in field.by):
        raise TypeError(f"{field.name} cannot be renamed: model/core/renaming.py does not have one of its axes")


for _field in state.VARIABLES:
    check_can_be_renamed(_field)


def renamed(p: Partition, names: Sequence[int]) -> Partition:
    """The state in which replica r has the name `names[r]`, and is called so wherever it is spoken of."""
    other = p.copy()
    for field in state.VARIABLES:
        if not field.by:
            setattr(other, field.name, _renamed_value(field, getattr(p, field.name), names))
            continue
        for index in product(*(range(axis.used(p)) for axis in field.by)):
            to = tuple(names[i] if axis is REPLICA else i for i, axis in zip(index, field.by, strict=True))
            value = _renamed_value(field, getattr(p, field.name)[_key(index)], names)
            getattr(other, field.name)[_key(to)] = value
    return other


def _key(index: tuple[int, ...]) -> int | tuple[int, ...]:
    return index if len(index) == 2 else index[0]


def _renamed_value(field: Field, value: int, names: Sequence[int]) -> int:
    if field.holds in NAMES_REPLICA:
        return value if value == NONE else names[value]
    if field.holds in NAMES_REPLICAS:
        return sum(1 << name for r, name in enumerate(names) if value >> r & 1)
    return value


def renamed_event(event: int, names: Sequence[int]) -> int:
    """The event that is the same for the renamed replica; one of the controller is what it was."""
    return event if verb_of(event).of_controller else event & ~7 | names[event & 7]
