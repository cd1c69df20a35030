"""The names of Hypothesis that no version promises, all in one file.

A version without such a name costs a feature, never a crash. tests/plugin shows the lost feature, and a weekly job of
.github/workflows runs these tests with the newest version.
"""

from collections.abc import Sequence
from typing import Any

from hypothesis import database
from hypothesis import strategies as st
from hypothesis.stateful import Rule, RuleBasedStateMachine


def can_steer(machine: RuleBasedStateMachine) -> bool:
    """Return whether Hypothesis draws rules from a strategy that the machine can replace."""
    strategy_is_there = hasattr(getattr(machine, "_rules_strategy", None), "is_valid")
    return strategy_is_there and all(hasattr(each, "arguments_strategies") for each in machine.rules)


def steer(machine: RuleBasedStateMachine, strategy: st.SearchStrategy[Any]) -> Any:
    """Make Hypothesis draw the machine's rules from a strategy. Returns Hypothesis's own strategy."""
    own = machine._rules_strategy
    machine._rules_strategy = strategy  # type: ignore[assignment] # any strategy of such values will do
    return own


def is_valid(own: Any, rule: Rule) -> bool:
    """Return whether the preconditions of a rule hold, and its bundles are not empty."""
    return bool(own.is_valid(rule))


def arguments_of(rule: Rule) -> dict[str, st.SearchStrategy[Any]]:
    """Return the strategies that draw the arguments of a rule."""
    return rule.arguments_strategies


def machine_of(test: Any) -> Any:
    """Return the state machine of a TestCase, or of its method `runTest`. None: it has no state machine."""
    method = getattr(test, "runTest", test)
    return getattr(method, "_hypothesis_state_machine_class", None)


def set_key(machine: type[RuleBasedStateMachine], key: str) -> None:
    """Save the failures of a machine in Hypothesis's database under a key of its own.

    Hypothesis derives the key from the source of the class. All classes that one function makes have the same source.
    """
    machine._hypothesis_internal_add_digest = key.encode()


def saved_form(choices: Sequence[bool | int]) -> bytes | None:
    """Return choices as Hypothesis saves them in its database. None: this version saves them in another way."""
    convert = getattr(database, "choices_to_bytes", None)
    return None if convert is None else convert(choices)
