"""The digest of the rules of a protocol: what was found by rules is worth as much as the rules that it was found by.

It is of the rules as they are linked, so that nothing counts but what they do: not their names nor the files in which
they stand, no goal that is counted, and no argument that is passed and never read.
"""

import ast
import hashlib
import pickle
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from epochfuzz.model.core import program, source
from epochfuzz.model.kafka.contract import healing, properties
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


def rules_digest(protocol: Protocol, judged: Iterable[str]) -> str:
    """Sixteen hexadecimal digits for the rules of a protocol, and for some properties, by name."""
    roots: list[source.Rule] = [step, healing.heal, *(properties.named(name).is_broken for name in judged)]
    linked = program.link(roots, protocol.numbers())
    names = {each.name: f"f{number}" for number, each in enumerate(linked)}
    rules = [_Anonymous(names).visit(pickle.loads(_pickled(each))) for each in linked]
    leave_out_unread(rules)
    return hashlib.sha256("\n".join(map(ast.unparse, rules)).encode()).hexdigest()[:16]


@cache
def _pickled(linked: program.Linked) -> bytes:
    """Return the definition of a linked rule, as it is written: protocols are alike in most of them."""
    return pickle.dumps(ast.parse(ast.unparse(linked.node)).body[0])


class _Anonymous(ast.NodeTransformer):
    """Numbers functions in place of naming them, and leaves out goals."""

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
    """Leave out parameters that a rule does not read, where no call computes what it passes for them."""
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
    """A rule, the calls in it, and the places of the parameters that it never names."""

    def __init__(self, rule: ast.FunctionDef) -> None:
        nodes = [node for statement in rule.body for node in ast.walk(statement)]
        named = {node.id for node in nodes if isinstance(node, ast.Name)}
        self.rule = rule
        self.calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        self.unread = {place for place, parameter in enumerate(rule.args.args) if parameter.arg not in named}


def _unread(read: Mapping[str, _Read]) -> dict[str, set[int]]:
    """Return the places of such parameters, by rule."""
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
