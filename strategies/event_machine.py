"""Hypothesis state machines over events, with a rule for each verb.

The rules, such as `produce(replica)` and `fetch(replica)`, are made from the verbs in model/kafka/vocabulary/events.py.
The machine skips a rule that would do nothing, so every step of a failure is an event that happened. Subclasses add
rules, invariants and bundles as in any state machine of Hypothesis.

This module draws the next rule itself, for three reasons.

* Hypothesis leaves out each rule with a probability that it draws for each example (swarm testing). That is good if a
  few rules are enough. But the shortest loss under the protocol `hw` needs seven verbs, and seven of eight examples
  lack one or more of these verbs.
* An example can follow a course: the steps of a schedule that was found before, for example by a scout (scouting.py).
  The example draws a seed, which determines the course, and then a choice for each step. The seed 0 stands for no
  course. If shrinking sets the seed to 0, the other choices still result in the same steps. So shrinking can first
  remove the course, and then any of the steps.
* If a rule cannot run, Hypothesis draws again, and uses up the choices of the next step. So after the removal of an
  event from a schedule, all later events would change. Here a draw without an event uses as many choices as a step. So
  shrinking can remove an event, and the machine skips later events that are no longer possible.

We also measured machines that let Hypothesis draw the rules, with preconditions that steer the choice. These machines
detected as many failures, but the shrunk failures kept the step that drew the seed. A passing machine took 14 to 24
seconds of processor time instead of 5. A failing invariant of a subclass took 5 to 17 seconds instead of 3, and had up
to 31 steps instead of at most 7.
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

from epochfuzz.model.kafka.vocabulary.event_codes import encode, replica_of
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, Verb, verb_of
from epochfuzz.strategies import private_hypothesis
from epochfuzz.strategies.tracebacks import hides_frames

__tracebackhide__ = hides_frames

_SEEDS = st.integers(0, 2**32 - 1)
_OWN = 0.25  # share of steps in a course that are a subclass's own rules, if it has any; the other steps are events
_PATIENCE = 50  # draws without a possible step, before the machine draws only among the possible steps


def rules_for(alphabet: bytes) -> dict[str, Callable[..., None]]:
    """Return a state machine rule for each verb in the alphabet, by the verb's name."""
    return {verb.text: _rule_for(verb) for verb in dict.fromkeys(map(verb_of, alphabet))}


def _rule_for(verb: Verb) -> Callable[..., None]:
    def happens(machine: "EventMachine", replica: str) -> None:
        machine.happen(encode(verb, REPLICA_NAMES.index(replica)))

    happens.__name__, happens.__qualname__ = verb.text, f"EventMachine.{verb.text}"
    happens.__doc__ = f"{verb.meaning[0].upper()}{verb.meaning[1:]}."
    happens.verb = verb  # type: ignore[attr-defined] # a rule that replaces this rule in a subclass has no `verb`
    replicas = st.runner().flatmap(lambda machine: st.sampled_from(machine.replicas_for(verb)))
    return precondition(lambda machine: machine.replicas_for(verb) != [])(rule(replica=replicas)(happens))


@dataclass(frozen=True)
class _Step:
    """A step that a machine can take next: a rule, and the event if the rule belongs to a verb."""

    rule: Rule
    event: int | None = None


class EventMachine(RuleBasedStateMachine):
    """A Hypothesis state machine whose steps are the events of `alphabet`, which lists the simplest events first.

    `rules_for` makes the rules of the machine. Subclasses define the possible events and the effect of an event.
    """

    alphabet: ClassVar[bytes]

    def __init__(self) -> None:
        super().__init__()
        by_verb = {getattr(each.function, "verb", None): each for each in self.rules}
        self._steps = [
            *(_Step(by_verb[verb_of(event)], event) for event in self.alphabet if verb_of(event) in by_verb),
            *(_Step(each) for each in self.rules if not hasattr(each.function, "verb")),
        ]
        self._course: deque[int] | None = None  # the next steps, as indices in `_steps`; None: not drawn yet
        if private_hypothesis.can_steer(self):
            self._theirs = private_hypothesis.steer(self, _next_rule(self))
        else:
            complaint = "this version of Hypothesis cannot be steered; fewer failures are found"
            warnings.warn(complaint, HypothesisWarning, stacklevel=2)

    def is_possible(self, event: int) -> bool:
        """Return whether the event would have an effect now."""
        raise NotImplementedError

    def happen(self, event: int) -> None:
        """Apply an event. If the event is not possible, nothing changes."""
        raise NotImplementedError

    def refuse(self, event: int) -> None:
        """Handle an event that was drawn but is not possible. Such an event is not a step of the machine."""

    def schedule(self, seed: int) -> bytes:
        """Return a schedule for the machine to follow. The schedule depends only on the seed.

        The machine skips events that are not possible or have no rule.
        """
        raise NotImplementedError

    def replicas_for(self, verb: Verb) -> list[str]:
        """Return the letters of the replicas where the verb is possible now."""
        events = [event for event in self.alphabet if verb_of(event) is verb and self.is_possible(event)]
        return [REPLICA_NAMES[replica_of(event)] for event in events]

    def draw_rule(self, draw: st.DrawFn) -> tuple[Rule, dict[str, Any]]:
        """Draw the next rule and its arguments."""
        if self._course is None:
            seed = draw(_SEEDS)
            self._course = self._course_for(seed) if seed else deque()
        for _ in range(_PATIENCE):
            first, last = 0, len(self._steps) - 1
            if self._course:
                first = last = self._course.popleft()
            step = self._steps[draw(_integers(first, last))]
            if self._can(step):
                return self._with_arguments(step, draw)
            if step.event is not None:
                self.refuse(step.event)
            draw(_integers(0, 0))  # in place of the choice that Hypothesis draws before each step: whether to continue
        possible = list(filter(self._can, self._steps))
        if possible:
            return self._with_arguments(possible[draw(_integers(0, len(possible) - 1))], draw)
        rule_and_arguments: tuple[Rule, dict[str, Any]] = draw(self._theirs)  # raises Hypothesis's own error
        return rule_and_arguments

    def _can(self, step: _Step) -> bool:
        if step.event is None:
            return private_hypothesis.is_valid(self._theirs, step.rule)
        return self.is_possible(step.event)

    def _with_arguments(self, step: _Step, draw: st.DrawFn) -> tuple[Rule, dict[str, Any]]:
        """Return the rule of a step, and its arguments by name."""
        if step.event is not None:
            return step.rule, {"replica": REPLICA_NAMES[replica_of(step.event)]}
        return step.rule, {name: draw(drawn) for name, drawn in private_hypothesis.arguments_of(step.rule).items()}

    def _course_for(self, seed: int) -> deque[int]:
        """Return the steps of a schedule, as indices in `_steps`, mixed with rules that a subclass has added."""
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
