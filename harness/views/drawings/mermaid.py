"""Draw a schedule's replay as a sequence diagram in Mermaid's text form, which some Markdown viewers render.

The participants are the replicas and the controller. If two protocols are compared, an `alt` block starts at their
first difference, with a branch for each protocol. Notes describe the effects of the steps.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from epochfuzz.harness.trace.scenes import HEALED, Scene, as_sentence
from epochfuzz.harness.trace.story import Moment, Story
from epochfuzz.harness.views.drawings import captions

_CONTROLLER = "Controller"
_FROM_CONTROLLER = ("notify", "catch_up", "elect", "expire")
_FROM_LEADER = ("receive", "drop")
_ISR = ("shrink", "expand")
_TO_CONTROLLER = ("register", "unfence", "shutdown")
_REQUEST = ("alter", "refuse")
_ANSWER = {"altered": "-->>", "resend": "--x"}
_LINE = 44  # characters of a note


def sequence_diagram(story: Story) -> str:
    """Return the Mermaid text for a story, the replays of a schedule under one or two protocols."""
    names = [replica.name for replica in story.opening.replicas]
    participants = [f"participant {name} as Replica {name}" for name in names]
    lines = ["sequenceDiagram", *_indented([f"participant {_CONTROLLER}", *participants])]
    lines += _indented(_over(names, f"{run.protocol.name} {captions.verdict(run)}") for run in story.runs)
    lines += _indented([_over(names, story.opening.sentence)])
    common = next((i for i, moment in enumerate(story.moments) if moment.shows_both), len(story.moments))
    lines += _indented(_steps(story.moments[:common], 0, story.opening))
    if common < len(story.moments):
        before = story.moments[common - 1].scenes[0] if common else story.opening
        for branch, run in enumerate(story.runs):
            lines += _indented([f"{'else' if branch else 'alt'} under {_plain(run.protocol.name)}"])
            lines += _indented(_indented(_steps(story.moments[common:], branch, before)))
        lines += _indented(["end"])
    return "\n".join(lines) + "\n"


def _steps(moments: Sequence[Moment], branch: int, before: Scene) -> Iterator[str]:
    for moment in moments:
        scene = moment.scenes[branch] if moment.shows_both else moment.scenes[0]
        yield from _step(scene, before)
        before = scene


def _step(scene: Scene, before: Scene) -> Iterator[str]:
    """Yield the lines of a step: an arrow if a message passes between participants, and notes about the effect."""
    if scene.event == HEALED:
        yield _over([each.name for each in scene.replicas], f"{HEALED}: {as_sentence(['. '.join(scene.clauses)])}")
    else:
        yield from _event(scene, before)
    if scene.newly_broken:
        yield _over([each.name for each in scene.replicas], f"BROKEN: {', '.join(scene.newly_broken)}")


def _event(scene: Scene, before: Scene) -> Iterator[str]:
    verb, name = scene.event.split()
    title = f"{scene.number} {scene.event}"
    replica = next(each for each in before.replicas if each.name == name)
    sentences = as_sentence([". ".join(scene.clauses)])
    text = f"{title}: {sentences}"
    if not scene.applied:
        yield _over([name], text)
        return
    if verb == "fetch":
        yield f"{name}->>{replica.leader}: {title}"
        yield _over(sorted([name, str(replica.leader)]), sentences)
    elif verb in _FROM_LEADER:
        arrow = "--x" if verb == "drop" else "-->>"
        yield f"{replica.answered_by or _CONTROLLER}{arrow}{name}: {_plain(replica.in_flight)}"
        yield _over([name], text)
    elif verb in _REQUEST:
        yield f"{name}->>{_CONTROLLER}: {_plain(replica.request)}"
        yield _over([_CONTROLLER], text)
    elif verb in _ANSWER:
        yield f"{_CONTROLLER}{_ANSWER[verb]}{name}: {_plain(replica.request)}"
        yield _over([name], text)
    elif verb in _TO_CONTROLLER:
        yield f"{name}->>{_CONTROLLER}: {title}"
        yield _over([name], sentences)
    elif verb in _FROM_CONTROLLER:
        yield f"{_CONTROLLER}->>{name}: {title}"
        yield _over([name], sentences)
    elif verb in _ISR and replica.pending_isr is None:
        yield f"{scene.controller.leader}->>{_CONTROLLER}: {title}"
        yield _over([name], sentences)
    else:
        yield _over([str(scene.controller.leader) if verb in _ISR else name], text)


def _over(names: Sequence[str], text: str) -> str:
    """Return the Mermaid line of a note over one participant, or of a note that spans several participants."""
    over = names[0] if len(names) == 1 else f"{names[0]},{names[-1]}"
    return f"note over {over}: {_plain(text)}"


def _plain(text: str) -> str:
    """Return text in wrapped lines, with commas in place of semicolons. A semicolon would end a Mermaid statement."""
    return "<br/>".join(textwrap.wrap(text.replace(";", ","), _LINE, break_long_words=False))


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]
