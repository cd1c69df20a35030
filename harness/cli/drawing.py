"""Draw a case for the terminal, or in a format for other tools."""

from collections.abc import Sequence
from enum import StrEnum

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cli.output import BadInput
from epochfuzz.harness.links.position import MOST_EVENTS
from epochfuzz.harness.trace.replay import Run


class Format(StrEnum):
    """The formats of drawings. TLA and ITF are traces for model checkers."""

    TERMINAL = "terminal"
    SVG = "svg"
    MERMAID = "mermaid"
    TLA = "tla"
    ITF = "itf"


def refuse_too_long(case: Case) -> None:
    """Raise BadInput for a case with too many events to draw."""
    if len(case.events) > MOST_EVENTS:
        raise BadInput(
            f"{case.path}: {len(case.events)} events are too many to draw (the most is {MOST_EVENTS});"
            " shorten the case with `epochfuzz shrink`"
        )


def draw(case: Case, runs: Sequence[Run], format_: Format, title: str) -> str:
    """Return the drawing of a case as text.

    A TLA+ module contains every run, and an ITF trace contains a single run. The other formats show at most two runs.
    `title` is the name of the TLA+ module. TLA+ requires that the module's file has this name too. Raises BadInput for
    an ITF trace of several runs.
    """
    from epochfuzz.harness.trace.story import most_contrasting, story_of
    from epochfuzz.harness.views import itf, terminal, tla
    from epochfuzz.harness.views.drawings import mermaid, svg
    from epochfuzz.harness.views.plain_text import drawn

    if format_ is Format.TLA:
        return tla.trace_module(title, case.why, runs)
    if format_ is Format.ITF:
        if len(runs) > 1:
            names = ", ".join(run.protocol.name for run in runs)
            raise BadInput(f"an ITF trace shows one protocol, and the case has {names}; choose one with --protocol")
        return itf.trace(runs[0], case.id)
    story = story_of(*most_contrasting(runs))
    if format_ is Format.MERMAID:
        return mermaid.sequence_diagram(story)
    if format_ is Format.SVG:
        return svg.drawing(story, case.id)
    return drawn(terminal.draw(story))
