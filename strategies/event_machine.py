"""State machines over events: a rule for each verb, and what decides which comes next.

A machine has a rule `produce(replica)`, one `fetch(replica)`, and so on for each verb that can happen, made from what
model/kafka/vocabulary/events.py declares. A rule is left alone where it would do nothing, so every step of a failure is
one that happened. Subclasses add rules, invariants and bundles as in any state machine of Hypothesis.

Which rule comes next is drawn here, for three reasons.

* Hypothesis leaves out each rule with a probability that it draws for each example (swarm testing). That is good where
  a few rules do it, but the shortest loss under `hw` needs seven verbs: seven examples of eight go without one of them.
* An example can follow a course: a schedule found by a scout, say. The seed of the course is drawn, and then the
  choices of the steps, which the course leaves no freedom. Without its seed, an example makes the same steps of the
  same choices; so the first thing that shrinking can do is to forget the course, and then any step is free to go.
* Where a rule cannot run, Hypothesis draws once more, and what was drawn for the next step is taken for this one: take
  one event out of a schedule, and all that follows is another schedule. Here a draw that comes to nothing takes just as
  many choices as a step. So shrinking can take an event out, and those which it alone made possible are passed over.

With rules that Hypothesis draws, steered by preconditions, detection was as good, but failures kept the step that drew
their seed, a passing machine took 14 to 24 s of processor in the place of 5, and a failing invariant of a subclass 5 to
17 s in the place of 3, with up to 31 steps in the place of 7 at the most.
"""

import random
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning
from hypothesis.stateful import Rule, RuleBasedStateMachine, precondition, rule

from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, Verb, encode, replica_of, verb_of

_SEEDS = st.integers(0, 2**32 - 1)
_OWN = 0.25  # of the steps on a course are rules of a subclass's own, where it has any; the others are events
_PATIENCE = 50  # draws that come to nothing, in a row, before it is left to Hypothesis


def rules_for(alphabet: bytes) -> dict[str, Callable[..., None]]:
    """Return a rule for each verb of an alphabet, by its name."""
    return {verb.text: _rule_for(verb) for verb in dict.fromkeys(map(verb_of, alphabet))}


def _rule_for(verb: Verb) -> Callable[..., None]:
    def happens(machine: "EventMachine", replica: str) -> None:
        machine.happen(encode(verb, REPLICA_NAMES.index(replica)))

    happens.__name__, happens.__qualname__ = verb.text, f"EventMachine.{verb.text}"
    happens.__doc__ = f"{verb.meaning[0].upper()}{verb.meaning[1:]}."
    happens.verb = verb  # type: ignore[attr-defined] # by which it is told from a rule that a subclass has in its place
    replicas = st.runner().flatmap(lambda machine: st.sampled_from(machine.replicas_for(verb)))
    return precondition(lambda machine: machine.replicas_for(verb) != [])(rule(replica=replicas)(happens))


@dataclass(frozen=True)
class _Step:
    """What can come next: a rule, and for the rule of a verb the event that it makes happen."""

    rule: Rule
    event: int | None = None


def can_steer(machine: RuleBasedStateMachine) -> bool:
    """Whether Hypothesis draws the next rule and its arguments from a strategy that another can take the place of.

    No version promises that: under one that is made otherwise, rules come as Hypothesis draws them.
    """
    strategy_is_there = hasattr(getattr(machine, "_rules_strategy", None), "is_valid")
    return strategy_is_there and all(hasattr(each, "arguments_strategies") for each in machine.rules)


class EventMachine(RuleBasedStateMachine):
    """A state machine whose rules are verbs: those that `rules_for` makes for its `alphabet`, the simplest first."""

    alphabet: ClassVar[bytes]

    def __init__(self) -> None:
        super().__init__()
        by_verb = {getattr(each.function, "verb", None): each for each in self.rules}
        self._steps = [
            *(_Step(by_verb[verb_of(event)], event) for event in self.alphabet if verb_of(event) in by_verb),
            *(_Step(each) for each in self.rules if not hasattr(each.function, "verb")),
        ]
        self._course: deque[int] | None = None  # steps to come, by their places in the list; None: not drawn yet
        if can_steer(self):
            self._theirs = self._rules_strategy
            self._rules_strategy = _next_rule(self)  # type: ignore[assignment] # any strategy of such values will do
        else:
            complaint = "this version of Hypothesis cannot be steered; fewer failures are found"
            warnings.warn(complaint, HypothesisWarning, stacklevel=2)

    def is_possible(self, event: int) -> bool:
        """Whether the event would do anything now."""
        raise NotImplementedError

    def happen(self, event: int) -> None:
        """Make an event happen. Where it is not possible, it does nothing."""
        raise NotImplementedError

    def schedule(self, seed: int) -> bytes:
        """Events to follow; those that are not possible, or have no rule, will be passed over."""
        raise NotImplementedError

    def replicas_for(self, verb: Verb) -> list[str]:
        """Return the replicas to which the verb can happen now."""
        events = [event for event in self.alphabet if verb_of(event) is verb and self.is_possible(event)]
        return [REPLICA_NAMES[replica_of(event)] for event in events]

    def draw_rule(self, draw: st.DrawFn) -> tuple[Rule, dict[str, Any]]:
        """Return the rule to come next, and its arguments."""
        if self._course is None:
            seed = draw(_SEEDS)
            self._course = self._course_for(seed) if seed else deque()
        for _ in range(_PATIENCE):
            first, last = 0, len(self._steps) - 1
            if self._course:
                first = last = self._course.popleft()
            step = self._steps[draw(_integers(first, last))]
            if step.event is None:
                if self._theirs.is_valid(step.rule):
                    return step.rule, {name: draw(drawn) for name, drawn in step.rule.arguments_strategies.items()}
            elif self.is_possible(step.event):
                return step.rule, {"replica": REPLICA_NAMES[replica_of(step.event)]}
            draw(_integers(0, 0))  # in the place of Hypothesis's own choice before each step, whether there is one more
        rule_and_arguments: tuple[Rule, dict[str, Any]] = draw(self._theirs)
        return rule_and_arguments

    def _course_for(self, seed: int) -> deque[int]:
        """Return the steps of a schedule, with rules of the subclass's own among them."""
        places = {step.event: place for place, step in enumerate(self._steps)}
        own = [place for place, step in enumerate(self._steps) if step.event is None]
        chance = random.Random(seed)
        course: deque[int] = deque()
        for event in self.schedule(seed):
            while own and chance.random() < _OWN:
                course.append(chance.choice(own))
            if event in places:
                course.append(places[event])
        return course


@st.composite
def _next_rule(draw: st.DrawFn, machine: EventMachine) -> tuple[Rule, dict[str, Any]]:
    return machine.draw_rule(draw)


@cache
def _integers(first: int, last: int) -> st.SearchStrategy[int]:
    return st.integers(first, last)
