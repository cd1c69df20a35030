"""Compute a digest of a protocol's rules: the functions of the model, reduced to the code that this protocol runs.

Recorded results of a protocol stay valid as long as its digest does not change. The digest ignores names, files,
coverage counters, and parameters that no rule reads.
"""

import ast
import copy
import hashlib
import pickle
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from epochfuzz.model.core import source, specializer
from epochfuzz.model.kafka.contract import healing, properties
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary.configuration import PARTICULAR
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of, verb_number
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.refusals import Refusal

# These settings are off in every survey, so their rules do not influence a digest.
_OFF_IN_SURVEYS = ("lag_time", "delayed_fetch", *sorted(PARTICULAR))
_ENCODING: dict[source.Rule, str] = {verb_number: "event >> 3", replica_of: "event & 7"}
OFF = dict.fromkeys(_OFF_IN_SURVEYS, 0)


def rules_digest(protocol: Protocol, judged: Iterable[str]) -> str:
    """Return the digest of a protocol's rules and of the checks of some properties, as 16 hexadecimal digits."""
    roots: list[source.Rule] = [step, healing.heal, *(properties.named(name).is_broken for name in judged)]
    linked = specializer.specialize(roots, protocol.numbers() | OFF)
    kept = {each.name for each in linked if each.origin in roots}
    rules = simplified([_without_encoding(each) for each in linked], kept)
    leave_out_last_verbs(rules)
    names = {rule.name: f"f{number}" for number, rule in enumerate(rules)}
    rules = [_Anonymous(names).visit(rule) for rule in rules]
    leave_out_unread(rules)
    return hashlib.sha256("\n".join(map(ast.unparse, rules)).encode()).hexdigest()[:16]


def _without_encoding(linked: specializer.Specialized) -> Any:
    """Return the syntax tree of a specialized rule. For the functions in _ENCODING, the tree is fixed.

    These functions decode the number of an event. The numbers are not rules, and with the fixed tree, numbers for more
    verbs do not change any digest.
    """
    if linked.origin in _ENCODING:
        return ast.parse(f"def {linked.name}(event): return {_ENCODING[linked.origin]}").body[0]
    return pickle.loads(_pickled(linked))


@cache
def _pickled(linked: specializer.Specialized) -> bytes:
    """Return the pickled syntax tree of a specialized rule. The cache helps because protocols share most rules."""
    return pickle.dumps(ast.parse(ast.unparse(linked.node)).body[0])


def simplified(rules: Sequence[ast.FunctionDef], kept: Collection[str]) -> list[ast.FunctionDef]:
    """Remove calls of empty rules, and inline rules that only return an expression. Returns the remaining rules.

    So the digest does not change if a rule is split into two rules. Rules in `kept` are neither removed nor inlined.
    """
    done: list[ast.FunctionDef] = []
    simplifier = _Simplifier()
    for rule in rules:  # each rule comes after the rules that it calls
        rule = simplifier.visit(rule)
        body = [each for each in rule.body if not isinstance(each, ast.Pass)]
        if rule.name not in kept and all(isinstance(each, ast.Return) and each.value is None for each in body):
            simplifier.empty.add(rule.name)
        elif rule.name not in kept and len(body) == 1 and isinstance(body[0], ast.Return):
            simplifier.expressions[rule.name] = rule
        else:
            done.append(rule)
    return done


def leave_out_last_verbs(rules: Sequence[ast.FunctionDef]) -> None:
    """Remove from `rules` the branches of their last verbs, if a rule can never enable these verbs.

    A new verb gets the highest number. Without its branch, the digest of a protocol that cannot enable it is unchanged.
    """
    for rule in rules:
        while _never_has_last_verb(rule.body):
            rule.body[-2:] = rule.body[-2].body  # type: ignore[attr-defined]


def _never_has_last_verb(body: Sequence[ast.stmt]) -> bool:
    *_, before, last = [None, None, *body]
    if not isinstance(before, ast.If) or not isinstance(last, ast.Return):
        return False
    never_has = isinstance(last.value, ast.Constant) and last.value.value == Refusal.DOES_NOT_HAPPEN
    return never_has and isinstance(before.body[0], ast.Return)


class _Simplifier(ast.NodeTransformer):
    """Removes calls of empty rules, and inlines rules that only return an expression.

    The caller must visit a rule only after the rules that it calls.
    """

    def __init__(self) -> None:
        self.empty: set[str] = set()
        self.expressions: dict[str, ast.FunctionDef] = {}

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        self.generic_visit(node)
        call = node.value
        is_empty = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in self.empty
        return None if is_empty else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        rule = self.expressions.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if rule is None:
            return node
        passed = {parameter.arg: value for parameter, value in zip(rule.args.args, node.args, strict=True)}
        returned = rule.body[-1]
        assert isinstance(returned, ast.Return)
        assert returned.value is not None
        expression: ast.expr = _Passed(passed).visit(copy.deepcopy(returned.value))
        return expression

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
        self.generic_visit(node)
        node.values = [
            value
            for each in node.values
            for value in (each.values if isinstance(each, ast.BoolOp) and type(each.op) is type(node.op) else [each])
        ]
        return node


class _Passed(ast.NodeTransformer):
    """Replaces the parameters of an inlined rule by the arguments of the call."""

    def __init__(self, passed: Mapping[str, ast.expr]) -> None:
        self._passed = passed

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._passed.get(node.id, node)


class _Anonymous(ast.NodeTransformer):
    """Replaces the names of rules by numbers, and removes the counting of coverage goals."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.name = self._names[node.name]
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_If(self, node: ast.If) -> ast.If:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | None:
        if isinstance(node.target, ast.Attribute) and node.target.attr == "goals":
            return None
        self.generic_visit(node)
        return node


def leave_out_unread(rules: Sequence[ast.FunctionDef]) -> None:
    """Remove parameters that a rule does not read. A parameter stays if an argument for it contains a call."""
    read = {rule.name: _Read(rule) for rule in rules}
    while unread := _unread(read):
        for name, each in list(read.items()):
            concerned = [call for call in each.calls if _called(call) in unread]
            for call in concerned:
                call.args = _others(call.args, unread[_called(call)])
            if name in unread:
                each.rule.args.args = _others(each.rule.args.args, unread[name])
            if concerned or name in unread:
                read[name] = _Read(each.rule)


class _Read:
    """A rule with its calls of other rules, and the positions of its unread parameters."""

    def __init__(self, rule: ast.FunctionDef) -> None:
        nodes = [node for statement in rule.body for node in ast.walk(statement)]
        named = {node.id for node in nodes if isinstance(node, ast.Name)}
        self.rule = rule
        self.calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        self.unread = {place for place, parameter in enumerate(rule.args.args) if parameter.arg not in named}


def _unread(read: Mapping[str, _Read]) -> dict[str, set[int]]:
    """Return the positions of the parameters to remove, by the name of the rule."""
    unread = {name: set(each.unread) for name, each in read.items()}
    for call in (call for each in read.values() for call in each.calls):
        if places := unread.get(_called(call)):
            places -= {place for place in places if place < len(call.args) and _calls_anything(call.args[place])}
    return {name: places for name, places in unread.items() if places}


def _called(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Name)
    return call.func.id


def _calls_anything(passed: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(passed))


def _others(every: list[Any], places: set[int]) -> list[Any]:
    return [each for place, each in enumerate(every) if place not in places]
