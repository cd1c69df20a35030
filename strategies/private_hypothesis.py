"""All uses of Hypothesis's private names, in one file.

If a version of Hypothesis lacks such a name, epochfuzz loses a feature but does not crash. The tests in tests/plugin
show which feature. A weekly job of .github/workflows runs these tests with the newest version of Hypothesis.
"""

from collections.abc import Sequence
from typing import Any

from hypothesis import database
from hypothesis import strategies as st
from hypothesis.stateful import Rule, RuleBasedStateMachine


def can_steer(machine: RuleBasedStateMachine) -> bool:
    """Return whether this version of Hypothesis lets epochfuzz replace the machine's choice of the next rule."""
    strategy_is_there = hasattr(getattr(machine, "_rules_strategy", None), "is_valid")
    return strategy_is_there and all(hasattr(each, "arguments_strategies") for each in machine.rules)


def steer(machine: RuleBasedStateMachine, strategy: st.SearchStrategy[Any]) -> Any:
    """Let a strategy choose the machine's next rule. Returns the strategy that Hypothesis would otherwise use."""
    own = machine._rules_strategy
    machine._rules_strategy = strategy  # type: ignore[assignment] # any strategy of such values will do
    return own


def is_valid(own: Any, rule: Rule) -> bool:
    """Return whether a rule can run now: its preconditions hold and its bundles are not empty.

    `own` is the strategy that `steer` returned.
    """
    return bool(own.is_valid(rule))


def arguments_of(rule: Rule) -> dict[str, st.SearchStrategy[Any]]:
    """Return the strategies for the arguments of a rule, by name."""
    return rule.arguments_strategies


def machine_of(test: Any) -> Any:
    """Return the state machine class of a TestCase or of its method `runTest`, or None for any other test."""
    method = getattr(test, "runTest", test)
    return getattr(method, "_hypothesis_state_machine_class", None)


def set_key(machine: type[RuleBasedStateMachine], key: str) -> None:
    """Give a state machine class its own key in Hypothesis's database, so that its failures are saved separately.

    Without `key`, Hypothesis makes the database key from the source of the class. That source is equal for all classes
    that one function makes.
    """
    machine._hypothesis_internal_add_digest = key.encode()


def saved_form(choices: Sequence[bool | int]) -> bytes | None:
    """Return choices in the format of Hypothesis's database, or None if this Hypothesis version has another format."""
    convert = getattr(database, "choices_to_bytes", None)
    return None if convert is None else convert(choices)
