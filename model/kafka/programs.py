"""Choose the variant of Kafka's rules to compile for given states. A variant without unneeded rules runs faster.

The program `kernels` leaves out consumers, transactions, and the rules of KIP-497 and later. The program
`kernels_of_all_releases` has all of Kafka's rules. The program `kernels_with_defects` has these rules and all mutants.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from epochfuzz.model.core.model import Specialization, SpecializationRules
from epochfuzz.model.kafka.vocabulary.configuration import PARTICULAR, Configuration
from epochfuzz.model.kafka.vocabulary.in_force import requests_isr_changes
from epochfuzz.model.kafka.vocabulary.protocols import NAMED
from epochfuzz.model.kafka.vocabulary.state import Partition

_BROKEN_SET = "epochfuzz.harness.lab.mutants"  # its import plants all mutants

# Most attempted events are not enabled, and the check of a precondition takes less time than a call, so Numba inlines
# most rules. It does not inline rare and long rules, because that would only lengthen the compilation.
_CALLED_MODULES = (
    "consumer",
    "consumer_group",
    "epoch_cache",
    "healing",
    "ideal_log",
    "idempotence",
    "late_requests",
    "log_start",
    "processes",
    "produce_purgatory",
    "producer",
    "producer_window",
    "truncation",
)
_CALLED = ("learn", "remember_readable")

# Settings whose rules the program `kernels` leaves out.
_SELDOM = (
    *("follower_reads", "retries", "consumer", "transactions", "controllers", "lag_time", "delayed_fetch"),
    *sorted(PARTICULAR),
)


def program_of(starts: Sequence[Partition]) -> Specialization:
    """Return the smallest of the three programs that can run every state reachable from the states `starts`."""
    if any(p.defect for p in starts):
        return Specialization("kernels_with_defects", {}, _BROKEN_SET)
    if all(getattr(p, name) == number for p in starts for name, number in _early().items()):
        return Specialization("kernels", _early())
    return Specialization("kernels_of_all_releases", {})


@cache
def _early() -> Mapping[str, int]:
    """Return the fields of a state that are constant in the program `kernels`, with their values.

    The fields are the choices that all protocols without AlterPartition requests share, and the defaults of seldom used
    settings.
    """
    choices = [each.numbers() for each in NAMED.values() if not requests_isr_changes(each.constants)]
    common = {name: number for name, number in choices[0].items() if all(each[name] == number for each in choices)}
    return common | {name: Configuration().numbers()[name] for name in _SELDOM}


def is_called(rule: Callable[..., Any]) -> bool:
    """Return whether compiled code calls the rule. Compiled code inlines all other rules."""
    return rule.__module__.rpartition(".")[2] in _CALLED_MODULES or rule.__name__ in _CALLED


LINKING = SpecializationRules(
    tuple(sorted(Path(__file__).parent.rglob("*.py"))), program=program_of, is_called=is_called
)
