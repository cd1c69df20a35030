"""The digest of the rules of a protocol: what was found by rules is worth as much as the rules that it was found by.

It is of the rules as they are linked, so that nothing counts but what they do: not their names nor the files in which
they stand, no goal that is counted, and no argument that is passed and never read.
"""

import ast
import hashlib
from collections.abc import Iterable, Mapping, Sequence
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
    rules = [_Anonymous(names).visit(_copied(each.node)) for each in linked]
    leave_out_unread(rules)
    return hashlib.sha256("\n".join(map(ast.unparse, rules)).encode()).hexdigest()[:16]


def _copied(rule: ast.FunctionDef) -> ast.FunctionDef:
    copied = ast.parse(ast.unparse(rule)).body[0]
    assert isinstance(copied, ast.FunctionDef)
    return copied


class _Anonymous(ast.NodeTransformer):
    """Numbers functions in place of naming them, and leaves out goals."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.name = self._names[node.name]
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        if isinstance(node.target, ast.Attribute) and node.target.attr == "goals":
            return ast.Pass()
        self.generic_visit(node)
        return node


def leave_out_unread(rules: Sequence[ast.FunctionDef]) -> None:
    """Leave out parameters that a rule does not read, where no call computes what it passes for them."""
    while unread := _unread(rules):
        for node in (each for rule in rules for each in ast.walk(rule)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in unread:
                node.args = _others(node.args, unread[node.func.id])
            elif isinstance(node, ast.FunctionDef) and node.name in unread:
                node.args.args = _others(node.args.args, unread[node.name])


def _unread(rules: Sequence[ast.FunctionDef]) -> dict[str, set[int]]:
    """The places of such parameters, by rule."""
    unread = {rule.name: _never_named(rule) for rule in rules}
    for node in (each for rule in rules for each in ast.walk(rule)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in unread:
            computed = {place for place, passed in enumerate(node.args) if _calls_anything(passed)}
            unread[node.func.id] -= computed
    return {name: places for name, places in unread.items() if places}


def _never_named(rule: ast.FunctionDef) -> set[int]:
    named = {node.id for statement in rule.body for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return {place for place, parameter in enumerate(rule.args.args) if parameter.arg not in named}


def _calls_anything(passed: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(passed))


def _others(every: list[Any], places: set[int]) -> list[Any]:
    return [each for place, each in enumerate(every) if place not in places]
