"""Specialize the rules for one protocol: copy them into flat code, and replace constants with numbers.

*Flat code* is a list of functions in a single namespace. The original rules are written for readers: they call
functions of other modules, compare values with enumerations, call rules from tables, and loop over declarations.
`specialize` copies functions and all functions that they call, and evaluates every part that depends only on constants.
Enumerations become numbers, a table of functions becomes a chain of `if`, and loops over declarations are unrolled.
A call of a rule that always returns one number becomes this number, and code that cannot run is left out. To *link* a
function means to add it to the flat code.

Python runs the flat code (`interpreted`), or Numba compiles it (harness/engine/runtime/compilation.py). Tracebacks show
the original rules.
"""

import ast
import builtins
import copy
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from threading import RLock
from types import CodeType, FunctionType
from typing import Any

from epochfuzz.model.core import source
from epochfuzz.model.core.model import MODEL, Model, Protocol
from epochfuzz.model.core.source import Rule

PARTITION = "p"  # the name that every rule has for the state
_HERE = f"{__name__.partition('.')[0]}."
DEFECT = "defect"  # the constant of a state that is the number of the planted mutant

_OF_KNOWN: dict[str, Callable[[Any], int]] = {"bool": bool, "int": int, "len": len}

# Mutants, by the rule that they replace and by their number, the value of `p.defect`; see harness/lab/mutants.
_planted: dict[Rule, dict[int, Rule]] = {}


class CannotSpecialize(TypeError):
    """A function is too complex to be specialized; the message says where and why."""


@dataclass(frozen=True)
class Specialized:
    """A specialized function: its name in the flat code, its syntax tree, and the original function."""

    name: str
    node: ast.FunctionDef
    origin: Rule

    @cached_property
    def code(self) -> CodeType:
        """The code object that defines the function in a namespace, if you pass it to `exec`."""
        return compile(ast.Module([self.node], type_ignores=[]), self.origin.__code__.co_filename, "exec")


@dataclass(frozen=True)
class Rules:
    """The specialized rules of one protocol, as Python functions."""

    step: Callable[[Any, int], int]
    broken_now: Callable[[Any], int]
    broken_at_end: Callable[[Any], int]


def plant(rule: Rule, number: int, mistake: Rule) -> None:
    """Replace a rule with a mutant, a deliberate mistake, in protocols whose `defect` is `number`.

    If the mutant calls the replaced rule by its name, this call reaches the original rule. So a mutant can make a small
    change and leave the rest to the original rule. Raises TypeError if the signatures differ.
    """
    check_stands_for(rule, mistake)
    _planted.setdefault(rule, {})[number] = mistake


def check_stands_for(rule: Rule, mistake: Rule) -> None:
    """Raise TypeError if a mutant's signature differs from the signature of the rule that it replaces."""
    if inspect.signature(rule) != inspect.signature(mistake):
        raise TypeError(f"{mistake.__qualname__}{inspect.signature(mistake)} cannot stand for {rule.__qualname__}")


def interpreted(protocol: Protocol) -> Rules:
    """Return the rules of a protocol as Python functions."""
    return _interpreted(protocol.model, tuple((protocol.numbers() | {DEFECT: protocol.defect}).items()))


@lru_cache(maxsize=256)
def _interpreted(model: Model, constants: tuple[tuple[str, int], ...]) -> Rules:
    defined = _Defined(_specializer(dict(constants), model=model, defers=True))
    return Rules(*[defined.function(root) for root in (model.step, model.judgement.now, model.judgement.end)])


class _Defined:
    """Specialized functions that are defined at their first call, because a schedule uses few of the rules."""

    def __init__(self, linker: "_Specializer") -> None:
        self._linker = linker
        self._namespace: dict[str, Any] = {}
        self._lock = RLock()

    def function(self, function: Rule) -> Rule:
        """Define a specialized function and all functions that it calls by name, and return the specialized function.

        A function that is called from a table of functions is defined at its first call.
        """
        with self._lock:
            name = self._linker.add(function)
            while self._linker.linked:
                exec(self._linker.linked.pop().code, self._namespace)
            while self._linker.deferred:
                later = self._linker.deferred.pop()
                self._namespace.setdefault(flat_name(later), self._when_called(later))
            made: Rule = self._namespace[name]
            return made

    def _when_called(self, function: Rule) -> Rule:
        def first(*arguments: Any) -> Any:
            return self.function(function)(*arguments)

        return first


def specialize(
    roots: Iterable[Rule],
    constants: Mapping[str, int] = {},
    *,
    with_defects: bool = False,
    model: Model | None = None,
) -> list[Specialized]:
    """Return the specialized `roots` and all functions that they call, callees first. Raises CannotSpecialize.

    `model` takes the place of the name MODEL. `constants` maps the names of fields with known values to these values.
    If `constants` has `defect`, the result contains only the mutant with this number. Otherwise the result contains all
    mutants, or no mutant without `with_defects`. Code with all mutants reads the state's `defect` at run time.
    """
    linker = _specializer(constants, with_defects=with_defects, model=model)
    for root in roots:
        linker.add(root)
    return linker.linked


def _specializer(
    constants: Mapping[str, int], *, with_defects: bool = False, model: Model | None = None, defers: bool = False
) -> "_Specializer":
    if constants.get(DEFECT) and not any(constants[DEFECT] in mistakes for mistakes in _planted.values()):
        raise CannotSpecialize(f"no defect has the number {constants[DEFECT]}; import harness.lab.mutants")
    with_defects = with_defects or bool(constants.get(DEFECT))
    return _Specializer(constants=dict(constants), with_defects=with_defects, model=model, defers=defers)


# A method of the linker that a folded function needs, and its argument, such as `add` and a function to link.
_Need = tuple[Callable[["_Specializer", Any], str], Any]

# Caches for rules that protocols share: folded functions with their needs, and constant results. A key has all inputs.
_folded: dict[tuple[Any, ...], tuple[Specialized, list[_Need]]] = {}
_answers: dict[tuple[Any, ...], int | None] = {}


@dataclass(kw_only=True)
class _Specializer:
    constants: dict[str, int]
    with_defects: bool
    model: Model | None
    defers: bool  # list functions called by number in `deferred`; the caller links each of them at its first call
    linked: list[Specialized] = field(default_factory=list)
    deferred: list[Rule] = field(default_factory=list)
    _needs: list[_Need] = field(default_factory=list)  # of the function that is being folded
    _names: dict[Rule, str] = field(default_factory=dict)
    _tables: dict[tuple[Rule, ...], str] = field(default_factory=dict)
    _answered: dict[Rule, int | None] = field(default_factory=dict)

    def add(self, function: Rule) -> str:
        """Add a function to the flat code if it is not there yet. Returns the function's name in the flat code."""
        self._needs.append((_Specializer.add, function))
        if function not in self._names:
            if flat_name(function) in self._names.values():
                raise CannotSpecialize(f"{function.__module__}.{function.__name__} has another function's flat name")
            self._names[function] = flat_name(function)
            mistakes = _planted.get(function, {}) if self.with_defects else {}
            if mistakes:
                self._add_choice(function, mistakes)
            else:
                self._emit(flat_name(function), function)
        return self._names[function]

    def add_sound(self, function: Rule) -> str:
        """Add a rule without its mutants to the flat code. Returns the name of this version of the rule."""
        self._needs.append((_Specializer.add_sound, function))
        name = f"{flat_name(function)}_without_defect"
        if all(linked.name != name for linked in self.linked):
            self._emit(name, function)
        return name

    def add_table(self, functions: tuple[Rule, ...]) -> str:
        """Add a function that calls one of the given functions, by index. Returns the name of the added function."""
        self._needs.append((_Specializer.add_table, functions))
        if functions not in self._tables:
            name = self._tables[functions] = f"one_of_{len(functions)}_from_{flat_name(functions[0])}"
            arguments = ", ".join(inspect.signature(functions[0]).parameters)
            calls = [f"{self._called_by_number(each)}({arguments})" for each in functions]
            self._emit_text(name, f"number, {arguments}", "number", enumerate(calls[:-1]), calls[-1], functions[0])
        return self._tables[functions]

    def _called_by_number(self, function: Rule) -> str:
        if not self.defers:
            return self.add(function)
        self.deferred.append(function)
        return flat_name(function)

    def answer(self, function: Rule) -> int | None:
        """Return the number that a rule always returns with the known constants, or None if its result may vary."""
        if function not in self._answered:
            self._answered[function] = None  # ends the recursion of a rule that calls itself
            if source.only_answers(function) and not (self.with_defects and function in _planted):
                key = function, self._known_to(function)
                if key not in _answers:
                    _answers[key] = _ConstantFolder(self, function, None).answer(source.definition(function))
                self._answered[function] = _answers[key]
        return self._answered[function]

    def _known_to(self, function: Rule) -> tuple[int | None, ...]:
        """Return the values that decide a function's code: constants and results of rules. None means variable."""
        constants = map(self.constants.get, source.names_in(function.__code__))
        return (*constants, *map(self.answer, source.rules_in(function)))

    def _add_choice(self, function: Rule, mistakes: Mapping[int, Rule]) -> None:
        """Add a rule that has mutants to the flat code, together with the choice between the rule and its mutants."""
        name, arguments = flat_name(function), ", ".join(inspect.signature(function).parameters)
        chosen = self.constants.get(DEFECT)
        if chosen is not None:
            mistake = mistakes.get(chosen)
            self._emit(name, function) if mistake is None else self._emit(name, mistake, function)
            return
        calls = []
        for number, mistake in mistakes.items():
            self._emit(f"{name}_with_defect_{number}", mistake, function)
            calls.append((number, f"{name}_with_defect_{number}({arguments})"))
        sound = f"{self.add_sound(function)}({arguments})"
        self._emit_text(name, arguments, f"{PARTITION}.{DEFECT}", calls, sound, function)

    def _emit_text(
        self, name: str, arguments: str, subject: str, calls: Iterable[tuple[int, str]], last: str, origin: Rule
    ) -> None:
        """Add a function that makes the call that `calls` has for the value of `subject`, or else the call `last`."""
        lines = [f"def {name}({arguments}):"]
        for number, call in calls:
            lines += [f"    if {subject} == {number}:", f"        return {call}"]
        (node,) = ast.parse("\n".join([*lines, f"    return {last}"])).body
        assert isinstance(node, ast.FunctionDef)
        self.linked.append(Specialized(name, node, origin))

    def _emit(self, name: str, function: Rule, in_place_of: Rule | None = None) -> None:
        key = name, function, in_place_of, self.model, self._known_to(function)
        outer, self._needs = self._needs, []  # the needs of this function are not needs of its caller
        if key in _folded:
            linked, needs = _folded[key]
            for need, what in needs:
                need(self, what)
        else:
            node = _ConstantFolder(self, function, in_place_of).folded(source.definition(function))
            node.name = name
            linked = Specialized(name, ast.fix_missing_locations(node), function)
            _folded[key] = linked, self._needs
        self._needs = outer
        self.linked.append(linked)


class _ConstantFolder(ast.NodeTransformer):
    """Evaluates the parts of a function that depend only on constants. Each known value becomes an ast.Constant."""

    def __init__(self, linker: _Specializer, function: Rule, in_place_of: Rule | None) -> None:
        self._linker = linker
        self._function = function
        self._in_place_of = in_place_of
        self._globals = function.__globals__
        self._locals = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
        self._bound: dict[str, Any] = {}  # variables of loops that are being unrolled

    def folded(self, definition: ast.FunctionDef) -> ast.FunctionDef:
        """Return the specialized definition, without docstring, decorators and annotations."""
        definition.decorator_list, definition.returns = [], None
        for argument in definition.args.args:
            argument.annotation = None
        definition.body = self._block(source.body(definition))
        return _Emitter(self._linker, self._in_place_of).visit(definition)

    def answer(self, definition: ast.FunctionDef) -> int | None:
        """Return the constant number that the function returns in its first statement; None for any other function."""
        first = self._block(source.body(definition))[0]
        number = first.value if isinstance(first, ast.Return) else None
        return number.value if isinstance(number, ast.Constant) and isinstance(number.value, int) else None

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return node
        if node.id in self._bound:
            return _known(self._bound[node.id], node)
        if node.id in self._locals:
            return node
        if node.id in self._globals:
            return _known(self._named(node), node)
        if hasattr(builtins, node.id):
            return node
        raise self._cannot(node, f"{node.id} is not defined")

    def _named(self, node: ast.Name) -> Any:
        """Return the value of a global name in the function's module. For the name MODEL, return the model."""
        value = self._globals[node.id]
        if value is MODEL:
            if self._linker.model is None:
                raise self._cannot(node, "it runs a model, but is linked without one")
            return self._linker.model
        return value

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        of_partition = isinstance(node.value, ast.Name) and node.value.id == PARTITION
        if of_partition and isinstance(node.ctx, ast.Load) and node.attr in self._linker.constants:
            return _known(self._linker.constants[node.attr], node)
        node.value = self.visit(node.value)
        if isinstance(node.value, ast.Constant) and isinstance(node.ctx, ast.Load):
            return _known(getattr(node.value.value, node.attr), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Constant) and isinstance(node.slice, ast.Constant):
            return _known(_value(node.value)[node.slice.value], node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Subscript) and isinstance(called.value, ast.Constant):
            name = self._linker.add_table(tuple(_value(called.value)))
            node.args.insert(0, called.slice)
            node.func = ast.copy_location(ast.Name(name, ast.Load()), node)
        elif isinstance(called, ast.Name) and called.id in _OF_KNOWN and isinstance(node.args[0], ast.Constant):
            return _known(_OF_KNOWN[called.id](_value(node.args[0])), node)
        elif isinstance(called, ast.Constant) and _value(called) in source.rules_in(self._function):
            answer = self._linker.answer(_value(called))
            if answer is not None and not any(
                isinstance(each, ast.Call) for arg in node.args for each in ast.walk(arg)
            ):
                return _known(answer, node)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return self._evaluated(node) if _is_number(node.operand) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return self._evaluated(node) if _is_number(node.left) and _is_number(node.right) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        return self._evaluated(node) if all(map(_is_number, (node.left, *node.comparators))) else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Drop constants that cannot change the result, and all operands after a constant that decides the result."""
        decisive = isinstance(node.op, ast.Or)
        values: list[ast.expr] = []
        for value in map(self.visit, node.values):
            values.append(value)
            if isinstance(value, ast.Constant) and bool(value.value) == decisive:
                break
        *others, last = values
        values = [value for value in others if not isinstance(value, ast.Constant)] + [last]
        if len(values) > 1 and isinstance(last, ast.Constant) and bool(last.value) != decisive:
            values.pop()  # rules use such an expression only as a condition, so `x and True` may become `x`
        return values[0] if len(values) == 1 else ast.copy_location(ast.BoolOp(node.op, values), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        assert node.value is not None
        assign = ast.Assign([node.target], self.visit(node.value))
        return ast.copy_location(assign, node)

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        node.test = self.visit(node.test)
        if isinstance(node.test, ast.Constant):
            return self._block(node.body if node.test.value else node.orelse, may_be_empty=True)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse, may_be_empty=True)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt | list[ast.stmt]:
        node.test = self.visit(node.test)
        if isinstance(node.test, ast.Constant) and not node.test.value:
            return []
        node.body = self._block(node.body)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        """Unroll a loop over a constant sequence, and keep any other loop."""
        node.iter = self.visit(node.iter)
        elements = _elements(node.iter)
        if elements is None:
            node.body = self._block(node.body)
            return node
        if any(isinstance(inner, ast.Break | ast.Continue) for inner in ast.walk(node)):
            raise self._cannot(node, "a loop over declarations has a break or a continue")
        unrolled: list[ast.stmt] = []
        for element in elements:
            self._bind(node.target, element)
            unrolled += self._block(copy.deepcopy(node.body), may_be_empty=True)
        return unrolled

    def _bind(self, target: ast.expr, element: Any) -> None:
        if isinstance(target, ast.Tuple):
            for each, value in zip(target.elts, element, strict=True):
                self._bind(each, value)
        else:
            assert isinstance(target, ast.Name)
            self._bound[target.id] = element

    def _block(self, body: Sequence[ast.stmt], *, may_be_empty: bool = False) -> list[ast.stmt]:
        """Return the specialized statements of `body`, up to and including the first return, break or continue."""
        block: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            block += made if isinstance(made, list) else [made]
            if block and isinstance(block[-1], ast.Return | ast.Break | ast.Continue):
                break
        return block if block or may_be_empty else [ast.copy_location(ast.Pass(), body[0])]

    def _evaluated(self, node: ast.expr) -> ast.expr:
        expression = ast.fix_missing_locations(ast.Expression(copy.deepcopy(node)))
        return _known(eval(compile(expression, "<constant>", "eval")), node)

    def _cannot(self, node: ast.expr | ast.stmt, why: str) -> CannotSpecialize:
        code = self._function.__code__
        return CannotSpecialize(f"{code.co_filename}:{node.lineno}: {code.co_name} cannot be linked: {why}")


class _Emitter(ast.NodeTransformer):
    """Replaces constants of any type with code that Numba compiles: numbers, function names, and NumPy expressions."""

    def __init__(self, linker: _Specializer, in_place_of: Rule | None) -> None:
        self._linker = linker
        self._in_place_of = in_place_of

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        value = _value(node)
        if value is None or isinstance(value, bool | int | str):
            return node
        if isinstance(value, FunctionType):
            add = self._linker.add_sound if value is self._in_place_of else self._linker.add
            return ast.copy_location(ast.Name(add(value), ast.Load()), node)
        if isinstance(value, tuple):
            elements = [self.visit(_known(element, node)) for element in value]
            return ast.copy_location(ast.Tuple(elements, ast.Load()), node)
        if getattr(value, "__module__", None) == "numpy":
            return _parsed(f"np.{value.__name__}", node)
        if type(value).__module__ == "numpy":  # a scalar, whose repr is the expression that makes it
            return _parsed(repr(value), node)
        raise CannotSpecialize(f"{value!r} cannot be a constant of a compiled rule")


@cache
def flat_name(function: Rule) -> str:
    """Return the name of a function in the flat code: the path of its module in this package, and its own name."""
    return f"{function.__module__.removeprefix(_HERE)}.{function.__name__}".replace(".", "_")


def _known(value: Any, node: ast.expr) -> ast.Constant:
    """Return an ast.Constant for a value, at the node's position. A member of an enumeration becomes its number."""
    plain = int(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return ast.copy_location(ast.Constant(plain), node)


def _value(node: ast.Constant) -> Any:
    """Return the value of a constant, which can be any object here."""
    return node.value


def _parsed(text: str, node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.parse(text, mode="eval").body, node)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _elements(iterated: ast.expr) -> list[Any] | None:
    """Return the elements of a constant sequence, or of `enumerate` of a constant sequence; None for anything else."""
    if isinstance(iterated, ast.Constant):
        return list(_value(iterated))
    if (
        isinstance(iterated, ast.Call)
        and isinstance(iterated.func, ast.Name)
        and iterated.func.id == "enumerate"
        and isinstance(iterated.args[0], ast.Constant)
    ):
        return list(enumerate(_value(iterated.args[0])))
    return None
