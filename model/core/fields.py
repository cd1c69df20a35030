"""Fields: the declarations of a model's state, and its two representations.

The interpreted form of a state is an object whose fields are Python ints, or lists or grids of ints. The compiled form
is one NumPy record with the same field names. Rules cannot distinguish the two forms: `p.leo[r]`,
`p.remote_leos[leader, follower]` and `p.produced += 1` work on both.

The interpreted form has no NumPy scalars, because they would overflow. The compiled form is a record, because Numba
turns a record into plain memory. A tuple of arrays would cost a reference count for each array at every call.

A field is declared once. The table of fields determines the record, the keys of searches, the renaming of replicas, and
the copies and comparisons of states.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

if TYPE_CHECKING:
    import numpy as np  # only functions that need records import it: NumPy would double the start-up time of a replay

NONE = -1  # no replica, or a value that is not known yet

# The type of the argument `p` of rules: an Interpreted, or one record under Numba. `replicas` is one of its constants.
State = Any


class Names(Enum):
    """Selects whether a value names a replica, a set of replicas, or none. Renaming replicas changes such names."""

    NOBODY = "of no replica"
    REPLICA = "of one, by its number, or of NONE"
    REPLICAS = "of a set of them, a bit for each"


class Kind(Protocol):
    """The range of a field's elements.

    `narrow`: an element fits into a byte.
    """

    @property
    def names(self) -> Names:
        """The replicas that the element names."""

    @property
    def narrow(self) -> bool:
        """True if the element fits into a byte."""

    def bounds(self, p: State) -> tuple[int, int]:
        """Return the (least, greatest) value of an element under the constants of a state."""


@dataclass(frozen=True)
class Axis:
    """One index of a field: its size, and the number of values that it takes under a state's constants.

    `of_replicas`: the index is a replica. `narrow`: the elements of a table with this index are bytes, see
    `Field.integer`.
    """

    size: int
    used: Callable[[State], int]
    of_replicas: bool
    narrow: bool = False


def always_read(p: State) -> bool:
    """Return True, for a field that rules read under any constants."""
    return True


def never_read(p: State) -> bool:
    """Return False, for a field that rules only write."""
    return False


@dataclass(frozen=True)
class Field:
    """One field: its name, the range of its elements, its indices, and its initial value.

    `read` is a condition on the constants of a state. The condition is true if a rule or a property can distinguish two
    values of the field. If the condition is false, searches leave the field out of their keys. A test checks that this
    is safe. `narrow`: each element fits into a byte, see `integer`.
    """

    name: str
    holds: Kind | type[IntEnum]
    by: tuple[Axis, ...] = ()
    start: int = 0
    read: Callable[[State], bool] = always_read
    narrow: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of the field's array, an empty tuple for a scalar."""
        return tuple(axis.size for axis in self.by)

    @property
    def names(self) -> Names:
        """The replicas that the values name; a member of an enumeration names none."""
        return Names.NOBODY if isinstance(self.holds, type) else self.holds.names

    @property
    def of_pairs(self) -> bool:
        """True if the field is indexed by two different replicas."""
        return len(self.by) == 2 and all(axis.of_replicas for axis in self.by)

    def indices(self, p: State) -> Iterator[tuple[int, ...]]:
        """Yield the indices that the constants of a state allow.

        A field of pairs has no element for a replica and itself.
        """
        for index in product(*(range(axis.used(p)) for axis in self.by)):
            if not self.of_pairs or index[0] != index[1]:
                yield index

    def bounds(self, p: State) -> tuple[int, int]:
        """Return the (least, greatest) value of an element under the constants of a state."""
        return (0, len(self.holds) - 1) if isinstance(self.holds, type) else self.holds.bounds(p)

    @property
    def integer(self) -> "type[np.signedinteger[Any]]":
        """The integer type of an element in a record: a byte if narrow or in a two-dimensional table, else a word.

        A record has to stay small, because a search copies it at every transition. Numba compiles a rule twice if the
        rule is called with bytes and with words. So the fields that rules pass as arguments are words of 64 bits.
        """
        import numpy as np

        small = self.narrow or isinstance(self.holds, type) or self.holds.narrow or any(each.narrow for each in self.by)
        return np.int8 if small or len(self.by) == 2 else np.int64

    def filled(self) -> Any:
        """Return the initial value of the field in an interpreted state."""
        if len(self.shape) == 2:
            rows, columns = self.shape
            return Grid(((i, j), self.start) for i in range(rows) for j in range(columns))
        return [self.start] * self.shape[0] if self.shape else self.start


class Grid(dict[tuple[int, int], int]):
    """A two-dimensional field of the interpreted form. Its index is `[i, j]`, as in a NumPy array."""


class Table:
    """The fields of a model's state: variables, and constants, which no rule writes."""

    def __init__(self, variables: Sequence[Field], constants: Sequence[Field]) -> None:
        self.variables, self.constants = tuple(variables), tuple(constants)
        self.fields = (*self.variables, *self.constants)
        self.names = tuple(field.name for field in self.fields)

    @cached_property
    def record(self) -> "np.dtype[Any]":
        """The NumPy type of a state's compiled form."""
        import numpy as np

        return np.dtype([(field.name, field.integer, field.shape) for field in self.fields], align=True)

    @cached_property
    def copy_fields(self) -> "Callable[[Interpreted, Interpreted], None]":
        """A function that copies every field of one state to another."""
        return self._for_each("p, other", "other.{0} = p.{0}", "other.{0} = p.{0}.copy()")

    @cached_property
    def copy_changed(self) -> "Callable[[Interpreted, Interpreted, Interpreted], None]":
        """A function that copies a state. The copy shares each table that equals the table of an earlier state."""
        shared = "other.{0} = before.{0} if before.{0} == p.{0} else p.{0}.copy()"
        return self._for_each("p, before, other", "other.{0} = p.{0}", shared)

    def _for_each(self, arguments: str, for_number: str, for_table: str) -> Any:
        """Return a function with one statement for each field.

        This generated function takes a fifth of the time of a loop over the fields.
        """
        lines = [(for_table if field.by else for_number).format(field.name) for field in self.fields]
        namespace: dict[str, Any] = {}
        exec("\n    ".join([f"def each({arguments}):", *lines]), namespace)
        return namespace["each"]

    @property
    def bytes(self) -> int:
        """The size of a record in bytes."""
        return self.record.itemsize

    @property
    def words(self) -> int:
        """The size of a record in words of 64 bits."""
        return self.bytes // 8

    def place_of(self, field: Field, index: tuple[int, ...]) -> int:
        """Return the offset of an element in a record, in units of the element's own size."""
        import numpy as np

        offsets = self.record.fields
        assert offsets is not None
        offset = offsets[field.name][1] // np.dtype(field.integer).itemsize
        return offset + int(np.ravel_multi_index(index, field.shape)) if field.shape else offset


class Interpreted:
    """The interpreted form of a state. Rules read and write its fields; all other code copies it.

    Each model has a subclass. The subclass sets `table`, and lists the names of the table's fields as __slots__.
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
        """Return a copy of this state that shares unchanged tables with an earlier state, so don't change the copy."""
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
