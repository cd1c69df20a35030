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
from dataclasses import KW_ONLY, dataclass
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
    """The replicas that a value refers to: no replica, one replica, or a set of replicas.

    A renaming of the replicas must change the values that refer to replicas.
    """

    NOBODY = "of no replica"
    REPLICA = "of one, by its number, or of NONE"
    REPLICAS = "of a set of them, a bit for each"


class Kind(Protocol):
    """The type of a field's elements: their range, and the replicas that they refer to.

    `narrow`: an element fits into a byte.
    """

    @property
    def names(self) -> Names:
        """The replicas that an element refers to: no replica, one replica, or a set of replicas."""

    @property
    def narrow(self) -> bool:
        """True if the element fits into a byte."""

    def bounds(self, p: State) -> tuple[int, int]:
        """Return the (least, greatest) value of an element, given constants of the state such as `p.replicas`."""


@dataclass(frozen=True)
class Axis:
    """One index of a field, such as the replica r in `p.leo[r]`.

    The index has room for `size` values. A state uses the first `used(p)` of them. `of_replicas`: the index is a
    replica. `narrow`: the elements of a field with this index are stored as bytes.
    """

    size: int
    used: Callable[[State], int]
    of_replicas: bool
    narrow: bool = False


def always_read(p: State) -> bool:
    """Return True. This is the `read` condition of a field that rules read under every protocol and setting."""
    return True


def never_read(p: State) -> bool:
    """Return False. This is the `read` condition of a field that rules only write."""
    return False


@dataclass(frozen=True)
class Field:
    """One field of a state: its name, the range of its elements, its indices, and its initial value.

    `read(p)` is true if a rule or a property may read the field, given the constants of `p`. If `read(p)` is
    false, states that differ only in this field behave alike, and a search treats such states as equal. A test checks
    that such states behave alike. `narrow`: each element fits into a byte.
    """

    name: str
    holds: Kind | type[IntEnum]
    by: tuple[Axis, ...] = ()
    _: KW_ONLY
    start: int = 0
    read: Callable[[State], bool] = always_read
    narrow: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the field as an array; () for a single number."""
        return tuple(axis.size for axis in self.by)

    @property
    def names(self) -> Names:
        """The replicas that an element refers to: no replica, one replica, or a set of replicas."""
        return Names.NOBODY if isinstance(self.holds, type) else self.holds.names

    @property
    def of_pairs(self) -> bool:
        """True if the field has two indices, and both are replicas."""
        return len(self.by) == 2 and all(axis.of_replicas for axis in self.by)

    def indices(self, p: State) -> Iterator[tuple[int, ...]]:
        """Yield the indices that are in use, given constants of the state such as `p.replicas`.

        If both indices are replicas, an index of two equal replicas is left out.
        """
        for index in product(*(range(axis.used(p)) for axis in self.by)):
            if not self.of_pairs or index[0] != index[1]:
                yield index

    def bounds(self, p: State) -> tuple[int, int]:
        """Return the (least, greatest) value of an element, given constants of the state such as `p.records`."""
        return (0, len(self.holds) - 1) if isinstance(self.holds, type) else self.holds.bounds(p)

    @property
    def integer(self) -> "type[np.signedinteger[Any]]":
        """The NumPy type of an element: int8 for small ranges and for fields with two indices, int64 for the others.

        Small records make a search faster, because it copies a record at every transition. Fields that rules pass as
        arguments are int64, because Numba would compile a rule twice if its argument were sometimes int8 and sometimes
        int64.
        """
        import numpy as np

        small = self.narrow or isinstance(self.holds, type) or self.holds.narrow or any(each.narrow for each in self.by)
        return np.int8 if small or len(self.by) == 2 else np.int64

    def filled(self) -> Any:
        """Return the initial value in an interpreted state: an int, a list or a Grid."""
        if len(self.shape) == 2:
            rows, columns = self.shape
            return Grid(((i, j), self.start) for i in range(rows) for j in range(columns))
        return [self.start] * self.shape[0] if self.shape else self.start


class Grid(dict[tuple[int, int], int]):
    """A field with two indices in an interpreted state. It takes the index `[i, j]`, as a NumPy array does."""


class Table:
    """All fields of a model's state: variables, and constants. No rule writes a constant."""

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
        """A function `copy(p, other)` that copies every field of state `p` to state `other`."""
        return self._for_each("p, other", "other.{0} = p.{0}", "other.{0} = p.{0}.copy()")

    @cached_property
    def copy_changed(self) -> "Callable[[Interpreted, Interpreted, Interpreted], None]":
        """A function `copy(p, before, other)` that copies every field of state `p` to state `other`.

        If a list or Grid of `p` equals the list or Grid of `before`, `other` and `before` share this object.
        """
        shared = "other.{0} = before.{0} if before.{0} == p.{0} else p.{0}.copy()"
        return self._for_each("p, before, other", "other.{0} = p.{0}", shared)

    def _for_each(self, arguments: str, for_number: str, for_table: str) -> Any:
        """Generate a function with one statement for each field. A loop over the fields would be five times slower."""
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
        """The size of a record in 64-bit words."""
        return self.bytes // 8

    def place_of(self, field: Field, index: tuple[int, ...]) -> int:
        """Return the position of an element in a record, in units of the element's size."""
        import numpy as np

        offsets = self.record.fields
        assert offsets is not None
        offset = offsets[field.name][1] // np.dtype(field.integer).itemsize
        return offset + int(np.ravel_multi_index(index, field.shape)) if field.shape else offset


class Interpreted:
    """A state as a Python object, whose fields are Python ints, lists of ints and Grids.

    Each model defines a subclass, which sets `table` and lists the names of the table's fields as __slots__.
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
        """Return a copy that shares equal lists and Grids with the earlier state `before`. Don't change such a copy."""
        other = type(self).__new__(type(self))
        self.table.copy_changed(self, before, other)
        return other

    def to_record(self) -> "np.ndarray":
        """Return the state as a NumPy record: an array of shape () with the dtype `table.record`."""
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
        """Return the state that a NumPy record holds."""
        import numpy as np

        p = cls()
        for field in cls.table.fields:
            value = record[field.name]
            grid = len(field.shape) == 2
            made = Grid((index, int(item)) for index, item in np.ndenumerate(value)) if grid else value.tolist()
            setattr(p, field.name, made)
        return p
