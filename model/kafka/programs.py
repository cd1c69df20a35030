"""Programs: for which states Kafka's rules are compiled together, and which of them are called and not inlined.

Some protocols do without what came with KIP-497 or later, and most configurations without consumers and transactions:
their programs do not have these rules, so that they cost nothing there. Mutants need the rules with what is wrong in
them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from epochfuzz.model.core.model import Linking, Program
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.in_force import requests_isr_changes
from epochfuzz.model.kafka.vocabulary.protocols import NAMED
from epochfuzz.model.kafka.vocabulary.state import Partition

_BROKEN_SET = "epochfuzz.harness.defects"  # which plants all of its defects

# Of the events that are tried most are not enabled, and to find that out takes less than a call does; but what is rare
# and long would only take longer to compile.
_CALLED_MODULES = (
    "consumer",
    "epoch_cache",
    "healing",
    "ideal_log",
    "idempotence",
    "processes",
    "producer",
    "producer_window",
    "truncation",
    "waiting",
)
_CALLED = ("learn", "remember_readable")

# Settings whose rules are left out of the program that needs them not.
_SELDOM = ("follower_reads", "retries", "consumer", "transactions", "controllers", "lag_time", "delayed_fetch")


def program_of(starts: Sequence[Partition]) -> Program:
    """Return the program for all that follows from some states."""
    if any(p.defect for p in starts):
        return Program("kernels_with_defects", {}, _BROKEN_SET)
    if all(getattr(p, name) == number for p in starts for name, number in _early().items()):
        return Program("kernels", _early())
    return Program("kernels_of_all_releases", {})


@cache
def _early() -> Mapping[str, int]:
    """Return what all protocols that change the ISR at once have in common, and the settings that are
    seldom asked for.
    """
    choices = [each.numbers() for each in NAMED.values() if not requests_isr_changes(each.constants)]
    common = {name: number for name, number in choices[0].items() if all(each[name] == number for each in choices)}
    return common | {name: Configuration().numbers()[name] for name in _SELDOM}


def is_called(rule: Callable[..., Any]) -> bool:
    """Return whether a rule is called."""
    return rule.__module__.rpartition(".")[2] in _CALLED_MODULES or rule.__name__ in _CALLED


LINKING = Linking(tuple(sorted(Path(__file__).parent.rglob("*.py"))), program=program_of, is_called=is_called)
