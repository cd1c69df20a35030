"""Defects: mistakes that a developer could make in replication, each a change of a few words in one rule.

The model has no switch for any of them. A defect is kept as the text of a rule and the text that takes its place, and
`load` imports a copy of the model with that one change beside the sound one, so the model stays readable and the
defects stay honest: a rule that has been rewritten since refuses its defect.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import model
from model.configuration import Configuration
from model.protocols import Protocol


@dataclass(frozen=True)
class Defect:
    """A mistake: `wrong` in place of `right`, in one module of the model.

    `protocol` is the one that the mistake is made in; it holds every property without it, except where the mistake
    is one in judging, which only a protocol known to be flawed can show.
    """

    name: str
    mistake: str
    module: str
    right: str
    wrong: str
    protocol: str = "kip-320"

    @property
    def in_judging(self) -> bool:
        """Whether the mistake is in what is remembered and judged, rather than in the protocol."""
        return self.module in ("promises", "properties")


DEFECTS: tuple[Defect, ...] = (
    Defect(
        "high-watermark-counts-leader-only",
        "the leader advances its high watermark to its own LEO without waiting for the ISR",
        "high_watermark",
        "if follower != leader and p.isr[leader] >> follower & 1:",
        "if False:",
    ),
    Defect(
        "follower-trusts-leader-high-watermark",
        "a follower takes the leader's high watermark even beyond its own log end offset",
        "high_watermark",
        "p.high_watermark[follower] = min(p.leo[follower], leader_high_watermark)",
        "p.high_watermark[follower] = leader_high_watermark",
    ),
    Defect(
        "fetch-acknowledges-what-it-sends",
        "the leader takes the records that it sends as already replicated",
        "replication",
        "p.remote_leo[leader, follower] = start\n",
        "p.remote_leo[leader, follower] = min(p.leo[leader], start + p.records_per_fetch)\n",
    ),
    Defect(
        "records-restamped-by-follower",
        "a follower stamps the records that it copies with the epoch it knows, not the one they were written in",
        "replication",
        "epoch = log.at(p.flight_record_epoch[follower], i)",
        "epoch = p.known_epoch[follower]",
    ),
    Defect(
        "no-truncation",
        "a new follower keeps its whole log and starts to fetch",
        "truncation",
        "    if p.leo[r] == 0:\n        return\n",
        "    return\n",
    ),
    Defect(
        "truncates-to-the-leaders-end-only",
        "the end of the follower's own epoch is left out of the minimum it cuts to",
        "truncation",
        "cut(p, r, min(end, own_end))",
        "cut(p, r, end)",
    ),
    Defect(
        "epoch-end-off-by-one",
        "the leader answers with the offset after the end of the epoch",
        "epoch_cache",
        "return p.cache_start[r, index + 1] if index + 1 < p.cache_size[r] else leo",
        "return p.cache_start[r, index + 1] + 1 if index + 1 < p.cache_size[r] else leo",
    ),
    Defect(
        "cache-not-truncated",
        "the epoch cache keeps the entries of what was cut from the log",
        "truncation",
        "    epoch_cache.truncate_from_end(p, r, p.leo[r])\n",
        "",
    ),
    Defect(
        "epochs-before-the-first-unknown",
        "an epoch older than the first entry of the cache has no end, so a log is kept that should go (KAFKA-7415)",
        "epoch_cache",
        "    if p.epoch_cache == CACHE_KAFKA_7415:\n        return epoch, p.cache_start[r, 0]\n",
        "",
    ),
    Defect(
        "isr-joined-at-once",
        "a follower joins the ISR with its first fetch, however far behind",
        "isr",
        "p.remote_leo[leader, r] == NONE or p.remote_leo[leader, r] < p.high_watermark[leader]",
        "p.remote_leo[leader, r] == NONE",
    ),
    Defect(
        "isr-joined-at-high-watermark",
        "a follower joins the ISR at a high watermark that the new leader has not learned yet (KAFKA-7128)",
        "isr",
        "return p.isr_expansion != EXPAND_AT_EPOCH_START or p.remote_leo[leader, r] >= p.epoch_start[leader]",
        "return True",
    ),
    Defect(
        "followers-remembered-across-epochs",
        "a leader goes on from what it knew of its followers when it led before",
        "leadership",
        "        p.remote_leo[r, follower] = NONE\n",
        "        p.remote_leo[r, follower] = p.remote_leo[r, follower]\n",
    ),
    Defect(
        "elected-outside-isr",
        "the controller elects any live replica",
        "controller",
        "    if members >> r & 1:\n        decide(p, r, members)\n",
        "    if p.up[r]:\n        decide(p, r, members | 1 << r)\n",
    ),
    Defect(
        "stale-leader-answers",
        "a leader answers a follower of a later epoch (KAFKA-6880)",
        "replication",
        "p.known_epoch[follower] != p.known_epoch[leader]:",
        "p.known_epoch[follower] < p.known_epoch[leader]:",
    ),
    Defect(
        "answer-outlives-its-epoch",
        "an answer of the former leader is applied after the follower learned of a new one",
        "leadership",
        "    replication.discard_answer(p, r)\n",
        "",
    ),
    Defect(
        "loss-judged-on-any-replica",
        "a committed record counts as kept if any replica has it",
        "properties",
        "return leader != NONE and p.exposed & ~p.standing[leader] != 0",
        "return leader != NONE and p.exposed & ~p.standing[0] & ~p.standing[1] != 0",
        protocol="hw",
    ),
    Defect(
        "promises-forgotten",
        "what consumers have read is not remembered",
        "promises",
        "        p.exposed |= record\n",
        "",
        protocol="hw",
    ),
    Defect(
        "divergence-judged-below-nothing",
        "logs are compared below offset 0, which is not at all",
        "properties",
        "both = min(p.high_watermark[a], p.high_watermark[b])",
        "both = 0",
        protocol="hw",
    ),
)


@dataclass(frozen=True)
class Rules:
    """What it takes to run a schedule: the functions of one copy of the model."""

    initial: Callable[[Protocol, Configuration], Any]
    step: Callable[[Any, int], bool]
    broken_now: Callable[[Any], int]
    non_convergence: Callable[[Any], bool]


def rules_of(package: str) -> Rules:
    """The rules of the model that was imported as `package`."""
    state, step, properties = (importlib.import_module(f"{package}.{name}") for name in ("state", "step", "properties"))
    return Rules(state.initial, step.step, properties.broken_now, properties.non_convergence)


SOUND = rules_of("model")


def load(defect: Defect) -> Rules:
    """The rules with the defect, from a copy of the model. Raises ValueError where the rule is not there any more."""
    package = f"model_with_{defect.name.replace('-', '_')}"
    if package not in sys.modules:
        sources = {path.stem: path.read_text(encoding="utf-8") for path in Path(model.__file__).parent.glob("*.py")}
        if sources[defect.module].count(defect.right) != 1:
            raise ValueError(f"{defect.name}: model/{defect.module}.py has no rule {defect.right.strip()!r}")
        sources[defect.module] = sources[defect.module].replace(defect.right, defect.wrong)
        sys.meta_path.append(_Copy(package, sources))
    return rules_of(package)


class _Copy(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports sources of the model under another package name."""

    def __init__(self, package: str, sources: dict[str, str]) -> None:
        self.package = package
        self.sources = sources

    def find_spec(self, fullname: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        package, _, module = fullname.partition(".")
        if package != self.package or (module or "__init__") not in self.sources:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=not module)

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__name__.partition(".")[2] or "__init__"
        source = self.sources[name].replace("from model", f"from {self.package}")
        exec(compile(source, f"<{module.__name__}>", "exec"), module.__dict__)
