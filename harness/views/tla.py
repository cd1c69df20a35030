"""Write the replays of a schedule as a TLA+ module that defines one sequence of states for each protocol.

A state is a record. A variable with a value for each replica is a function, as in public TLA+ specifications of Kafka's
replication. TLC can check the module without a specification: ASSUME statements say that each sequence is well-formed,
and whether it loses a record. A specification can also take a sequence as its behaviour.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from epochfuzz.harness.trace.replay import Run
from epochfuzz.harness.trace.scenes import ReplicaScene, Scene
from epochfuzz.harness.views.drawings import captions
from epochfuzz.model.kafka.contract import observation
from epochfuzz.model.kafka.contract.observation import Seen, Shape, observe
from epochfuzz.model.kafka.vocabulary.in_force import requests_isr_changes
from epochfuzz.model.kafka.vocabulary.state import Partition

_WIDTH = 100
_NO_NUMBER = -1
_RESERVED = {"Replicas", "Lost", "Loses", "WellFormed"}

_OPERATORS = r"""
\* The records that consumers could read once, and that the true leader lacks: the one that the controller
\* has decided on, where it is up and has learned of that decision.
Lost(state) ==
    LET leader == state.controller.leader IN
    IF \E r \in Replicas : r = leader /\ state.up[r] /\ state.leaderEpoch[r] = state.controller.epoch
    THEN {m \in state.committed : \A i \in DOMAIN state.log[leader] : state.log[leader][i].record # m}
    ELSE {}

Loses(behaviour) == \E n \in DOMAIN behaviour : Lost(behaviour[n]) # {}

WellFormed(behaviour) ==
    \A n \in DOMAIN behaviour : \A r \in Replicas : behaviour[n].leo[r] = Len(behaviour[n].log[r])"""


class ByReplica(dict[str, Any]):
    """A TLA+ function from replicas to values, as a dictionary by the replica's name."""


def trace_module(title: str, why: str, runs: Sequence[Run]) -> str:
    """Return the text of a module. Write the text to a file with the name `module_name(title)` and the suffix `.tla`.

    `why` becomes a comment. The first state of a sequence is the start, and state n + 1 follows event n.
    """
    heading = f" MODULE {module_name(title)} "
    lines = [heading.center(_WIDTH, "-"), *_comment(why), "EXTENDS Integers, Sequences", ""]
    replicas = ", ".join(f'"{replica.name}"' for replica in runs[0].scenes[0].replicas)
    lines += [f"Replicas == {{{replicas}}}", *_OPERATORS.splitlines()]
    for run in runs:
        lines += ["", *_behaviour(run)]
    return "\n".join([*lines, "", "=" * _WIDTH, ""])


def module_name(title: str) -> str:
    """Return the TLA+ identifier for a title, such as `m1_loss` for `m1-loss`."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", title).strip("_")
    return f"{name}_" if name in _RESERVED or name[:3] in ("WF_", "SF_") else name


def _behaviour(run: Run) -> Iterator[str]:
    name = module_name(run.protocol.name)
    yield from _comment(f"{run.protocol.name} {captions.verdict(run)}.")
    yield f"{name} == <<"
    states = [run.start, *(step.state for step in run.steps)]
    scenes = run.scenes
    for scene, state in zip(scenes, states, strict=True):
        yield from _comment(f"{scene.number} {scene.event}: {scene.sentence}", "    ")
        yield from _state(scene, state)
        if scene is not scenes[-1]:
            yield "    ,"
    yield ">>"
    yield f"ASSUME WellFormed({name})"
    loses = any(set(scene.lost).intersection(scene.committed) for scene in scenes)  # permitted losses too
    yield f"ASSUME {'' if loses else '~'}Loses({name})"


def _state(scene: Scene, p: Partition) -> Iterator[str]:
    fields = variables(scene, p)
    last = len(fields) - 1
    for i, (key, value) in enumerate(fields.items()):
        yield f"    {' ' if i else '['}{key} |-> {_value(value)}{']' if i == last else ','}"


def variables(scene: Scene, p: Partition) -> dict[str, Any]:
    """Return the variables of a state, by their TLA+ names.

    In a value, a dict is a record, a frozenset is a set, and a list is a sequence. A variable with a value for each
    replica is a `ByReplica`.
    """
    shown = observe(p)

    def by_replica(value: Callable[[ReplicaScene], str]) -> ByReplica:
        return ByReplica({each.name: value(each) for each in scene.replicas})

    return {
        "event": scene.event,
        "enabled": scene.applied,
        **{
            _name(seen): ByReplica({r: _in_tla(seen, values[seen.name]) for r, values in shown["replicas"].items()})
            for seen in observation.REPLICA
            if seen.there(p)
        },
        "inFlight": by_replica(lambda each: each.in_flight),
        **(
            {"alterPartition": ByReplica({r.name: r.request for r in scene.replicas})}
            if requests_isr_changes(p)
            else {}
        ),
        "controller": {
            _name(seen): _in_tla(seen, shown["controller"][seen.name])
            for seen in observation.CONTROLLER
            if seen.there(p)
        },
        **(
            {"consumer": {_name(seen): _in_tla(seen, shown["consumer"][seen.name]) for seen in observation.CONSUMER}}
            if "consumer" in shown
            else {}
        ),
        "committed": frozenset(scene.committed),
        "broken": frozenset(scene.newly_broken),
    }


def _name(seen: Seen) -> str:
    """Return the TLA+ name of a field, such as `leaderEpoch` for `leader_epoch`."""
    first, *others = seen.name.split("_")
    return first + "".join(map(str.title, others))


def _in_tla(seen: Seen, value: Any) -> Any:
    """Return an observed value, converted to a type that `_value` can write."""
    match seen.shape:
        case Shape.LOG:
            return [{"record": record, "epoch": epoch} for record, epoch in value]
        case Shape.EPOCHS:
            return [{"epoch": epoch, "startOffset": start} for epoch, start in value]
        case Shape.REPLICAS | Shape.RECORDS:
            return frozenset(value)
        case Shape.REPLICA_OR_NONE:
            return "none" if value is None else value
        case Shape.NUMBER_OR_NONE:
            return _NO_NUMBER if value is None else value
        case _:
            return value


def _value(value: Any) -> str:
    """Return a value as TLA+ text: a record for a dict, a sequence for a list, and a set for a frozenset."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):
        return f"[{', '.join(f'{key} |-> {_value(item)}' for key, item in value.items())}]"
    if isinstance(value, list):
        return f"<<{', '.join(map(_value, value))}>>"
    if isinstance(value, frozenset):
        return f"{{{', '.join(map(_value, sorted(value)))}}}"
    return str(value)


def _comment(text: str, indent: str = "") -> list[str]:
    return [f"{indent}\\* {line}" for line in textwrap.wrap(text, _WIDTH - len(indent) - 3)]
