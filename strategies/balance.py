"""Balanced schedules: random schedules in which every verb has a share of the events.

A verb such as `expand` is enabled in few states, and most events lead away from such a state. So random events, even
random enabled events, hardly ever contain such a verb. To extend a balanced schedule, the generator picks the verb that
the schedule contains least often. The generator then looks for a few events of progress and recovery that lead to a
state where the verb is enabled.
"""

import random
from collections.abc import Sequence

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.vocabulary.effects import Effect
from epochfuzz.model.kafka.vocabulary.events import PROGRESS, Verb, verb_of

_TRIES = 6  # random paths to a state that enables the verb
_SPARING = 3  # of these paths, the number without produce: a run has few records, and a lagging replica needs one
_ELECTING = 3  # additional paths, with elections: in KRaft, few other events put a replica two epochs behind
_LONGEST = 8  # events of a path
_PASSED = 0.5  # the turns added for a verb on the path to another verb, and for a verb without a path to it


def balanced(draw: random.Random, start: Execution, alphabet: bytes, length: int) -> bytes:
    """Return a schedule of about `length` enabled events that gives every verb a share of the events.

    The schedule also contains some events that are not enabled. The schedule ends early if no path leads to an enabled
    verb.
    """
    execution = start.copy()
    events = {verb: [each for each in alphabet if verb_of(each) is verb] for verb in map(verb_of, alphabet)}
    helpful = [event for event in alphabet if verb_of(event) in PROGRESS or verb_of(event).heals]
    sparing = [event for event in helpful if not verb_of(event).appends]
    electing = helpful + [event for event in alphabet if verb_of(event) is Verb.ELECT]
    attempts = [*[sparing] * _SPARING, *[helpful] * (_TRIES - _SPARING), *[electing] * _ELECTING]
    turns = dict.fromkeys(events, 0.0)
    schedule, enabled = bytearray(), 0
    while enabled < length and (sensible := _sensible(turns, execution)):
        verb = min(sensible, key=lambda each: (turns[each], draw.random()))
        if turns[verb] >= length:
            break
        stray = draw.choice(alphabet)
        if not execution.copy().apply(stray):
            schedule.append(stray)  # an implementation must reject the event in this state
        path = _path(draw, execution, events[verb], attempts)
        for event in path:
            execution.apply(event)
        schedule += path
        enabled += len(path)
        for event in path[:-1]:
            turns[verb_of(event)] += _PASSED
        turns[verb] += 1 if path else _PASSED
    return bytes(schedule)


def _sensible(verbs: dict[Verb, float], execution: Execution) -> list[Verb]:
    """Return the verbs that the next event may have.

    Once the run has reached its bound of leader epochs, the function leaves out verbs that stop a replica or open
    another epoch, but keeps verbs that heal. No election could replace a stopped leader then, and soon only crashes and
    restarts would be enabled.
    """
    p = execution.state
    if p.controller_epoch < p.epochs:
        return list(verbs)
    return [verb for verb in verbs if verb.heals or not (verb.effect is Effect.ENDS or verb.opens_epoch(p))]


def _path(draw: random.Random, start: Execution, wanted: Sequence[int], attempts: Sequence[Sequence[int]]) -> bytes:
    """Return a path: enabled events, the last of them from `wanted`. The path is empty if the search found none.

    Each element of `attempts` holds the events that one random attempt may use before the event from `wanted`.
    """
    for usable in attempts:
        execution = start.copy()
        path = bytearray()
        while len(path) < _LONGEST:
            event = _first_enabled(draw, execution, wanted)
            if event is not None:
                return bytes([*path, event])
            event = _first_enabled(draw, execution, usable)
            if event is None:
                break
            path.append(event)
    return b""


def _first_enabled(draw: random.Random, execution: Execution, events: Sequence[int]) -> int | None:
    """Try the events in a random order, apply the first enabled event, and return it; None if no event is enabled."""
    return next(filter(execution.apply, draw.sample(events, len(events))), None)
