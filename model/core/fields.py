"""Fields: a model's state as one table of declarations, in two representations.

Interpreted, a state is an object whose fields are Python ints, and lists or grids of them. Compiled, it is one NumPy
record with the same field names. Rules cannot tell them apart: `p.leo[r]`, `p.remote_leos[leader, follower]` and
`p.produced += 1` mean the same on both.

NumPy scalars would overflow in the interpreted form, and a record is what Numba turns into plain memory: a tuple of
arrays costs a reference count for each array at every call.

A field is declared once. The record, the keys of searches, what becomes of it when replicas are renamed, copies and
comparisons of states follow from the table.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

if TYPE_CHECKING:
    import numpy as np  # imported below where there are records: a replay has none, and would start in twice the time

NONE = -1  # nobody, or nothing known yet

# What rules call `p`: an Interpreted, or under Numba one record. It has the number of `replicas` among its constants.
State = Any


class Names(Enum):
    """Of whom a value speaks, which says what becomes of it when replicas are renamed."""

    NOBODY = "of no replica"
    REPLICA = "of one, by its number, or of NONE"
    REPLICAS = "of a set of them, a bit for each"


class Kind(Protocol):
    """What an element of a field can be.

    `narrow`: a byte is room enough for it.
    """

    @property
    def names(self) -> Names:
        """Of whom it speaks."""

    @property
    def narrow(self) -> bool:
        """Whether a byte is room enough."""

    def bounds(self, p: State) -> tuple[int, int]:
        """Return the (least, greatest) value of an element under the constants of a state."""


@dataclass(frozen=True)
class Axis:
    """What the elements of a field are numbered by: room for how many, and how many the constants of a state allow.

    `of_replicas`: their numbers are replicas. `narrow`: elements of a table by this are bytes, see `Field.integer`.
    """

    size: int
    used: Callable[[State], int]
    of_replicas: bool
    narrow: bool = False


def always_read(p: State) -> bool:
    """Return true: of a field that the rules read under any constants."""
    return True


def never_read(p: State) -> bool:
    """Return false: of a field that is written only."""
    return False


@dataclass(frozen=True)
class Field:
    """One field: its name, what each element holds, what the elements are numbered by, and the value it starts from.

    `read` says in which states, of which the constants matter, any rule or property can tell two values of the field
    apart. Where none can, searches leave it out of their keys; a test proves it. `narrow`: a byte is room enough for
    each element, see `integer`.
    """

    name: str
    holds: Kind | type[IntEnum]
    by: tuple[Axis, ...] = ()
    start: int = 0
    read: Callable[[State], bool] = always_read
    narrow: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The room that the field has."""
        return tuple(axis.size for axis in self.by)

    @property
    def names(self) -> Names:
        """Of whom its values speak; a member of an enumeration speaks of nobody."""
        return Names.NOBODY if isinstance(self.holds, type) else self.holds.names

    @property
    def of_pairs(self) -> bool:
        """Whether it is numbered by two replicas, of which one is never the other."""
        return len(self.by) == 2 and all(axis.of_replicas for axis in self.by)

    def indices(self, p: State) -> Iterator[tuple[int, ...]]:
        """Yield the elements that the constants of a state allow; a replica has nothing to know of itself."""
        for index in product(*(range(axis.used(p)) for axis in self.by)):
            if not self.of_pairs or index[0] != index[1]:
                yield index

    def bounds(self, p: State) -> tuple[int, int]:
        """Return the (least, greatest) value of an element under the constants of a state."""
        return (0, len(self.holds) - 1) if isinstance(self.holds, type) else self.holds.bounds(p)

    @property
    def integer(self) -> "type[np.signedinteger[Any]]":
        """The integer that each element is in a record: a byte in tables by pair or where it is narrow, else a word.

        A record has to stay small, for a search copies it at every transition; but a rule that is called with bytes
        and with words is compiled twice, so the fields that are passed around are words.
        """
        import numpy as np

        small = self.narrow or isinstance(self.holds, type) or self.holds.narrow or any(each.narrow for each in self.by)
        return np.int8 if small or len(self.by) == 2 else np.int64

    def filled(self) -> Any:
        """Return what an interpreted state starts with."""
        if len(self.shape) == 2:
            rows, columns = self.shape
            return Grid(((i, j), self.start) for i in range(rows) for j in range(columns))
        return [self.start] * self.shape[0] if self.shape else self.start


class Grid(dict[tuple[int, int], int]):
    """A two-dimensional field of the interpreted form, indexed `[i, j]` as a NumPy array is."""


class Table:
    """The fields of a model's state: those that change, and the constants, which no rule writes."""

    def __init__(self, variables: Sequence[Field], constants: Sequence[Field]) -> None:
        self.variables, self.constants = tuple(variables), tuple(constants)
        self.fields = (*self.variables, *self.constants)
        self.names = tuple(field.name for field in self.fields)

    @cached_property
    def record(self) -> "np.dtype[Any]":
        """The compiled form of a state."""
        import numpy as np

        return np.dtype([(field.name, field.integer, field.shape) for field in self.fields], align=True)

    @cached_property
    def copy_fields(self) -> "Callable[[Interpreted, Interpreted], None]":
        """What makes the fields of one state those of another."""
        return self._for_each("p, other", "other.{0} = p.{0}", "other.{0} = p.{0}.copy()")

    @cached_property
    def copy_changed(self) -> "Callable[[Interpreted, Interpreted, Interpreted], None]":
        """What does so, and has the tables that are as they were in a third state be that one's."""
        shared = "other.{0} = before.{0} if before.{0} == p.{0} else p.{0}.copy()"
        return self._for_each("p, before, other", "other.{0} = p.{0}", shared)

    def _for_each(self, arguments: str, for_number: str, for_table: str) -> Any:
        """Return a function with a statement for each field, which takes a fifth of the time of a loop over them."""
        lines = [(for_table if field.by else for_number).format(field.name) for field in self.fields]
        namespace: dict[str, Any] = {}
        exec("\n    ".join([f"def each({arguments}):", *lines]), namespace)
        return namespace["each"]

    @property
    def bytes(self) -> int:
        """How many bytes a record has."""
        return self.record.itemsize

    @property
    def words(self) -> int:
        """How many words of 64 bits it has."""
        return self.bytes // 8

    def place_of(self, field: Field, index: tuple[int, ...]) -> int:
        """Return where an element is in a record, counting integers of its size."""
        import numpy as np

        offsets = self.record.fields
        assert offsets is not None
        offset = offsets[field.name][1] // np.dtype(field.integer).itemsize
        return offset + int(np.ravel_multi_index(index, field.shape)) if field.shape else offset


class Interpreted:
    """The interpreted form of a state. Rules read and write its fields; everything else copies it.

    A model has a class of its own for it, with its `table`, of which it has the names as __slots__.
    """

    __slots__ = ()
    table: ClassVar[Table]

    def __init__(self) -> None:
        for field in self.table.fields:
            setattr(self, field.name, field.filled())

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def copy(self) -> Self:
        """Return an independent state, equal to this one."""
        other = type(self).__new__(type(self))
        self.table.copy_fields(self, other)
        return other

    def kept(self, before: Self) -> Self:
        """Return a state equal to this one, to be looked at only: what has not changed is that of one kept before."""
        other = type(self).__new__(type(self))
        self.table.copy_changed(self, before, other)
        return other

    def to_record(self) -> "np.ndarray":
        """Return the compiled form of the state: an array of shape () and the dtype of the table's record."""
        import numpy as np

        record = np.zeros((), self.table.record)
        for field in self.table.fields:
            value = getattr(self, field.name)
            if len(field.shape) == 2:
                value = np.array(list(value.values())).reshape(field.shape)
            record[field.name] = value
        return record

    @classmethod
    def from_record(cls, record: "np.ndarray") -> Self:
        """Return the interpreted form of a compiled state."""
        import numpy as np

        p = cls()
        for field in cls.table.fields:
            value = record[field.name]
            grid = len(field.shape) == 2
            made = Grid((index, int(item)) for index, item in np.ndenumerate(value)) if grid else value.tolist()
            setattr(p, field.name, made)
        return p
