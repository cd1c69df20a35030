"""Draw the timeline of a run for the terminal: each step shows every log, the controller's view, and a sentence.

Shapes carry all information, and colour only emphasizes it. `[m0]` is a record below the replica's high watermark.
`{m1}` is above the high watermark, but committed or acknowledged. `(m2)` is above the high watermark, and neither
committed nor acknowledged. Records and numbers are ASCII text, so the drawing survives pipes, mail and old consoles.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from epochfuzz.harness.trace.replay import Run
from epochfuzz.harness.trace.scenes import ControllerScene, RecordCell, ReplicaScene, Scene
from epochfuzz.harness.trace.story import Moment, Story, story_of
from epochfuzz.harness.views.drawings import captions

# Styles that are readable on light and dark backgrounds: no white, yellow or bright colours, no background.
BELOW_HIGH_WATERMARK = "reverse"
PROMISED = "bold magenta"
APPENDED = "bold green"
CUT = "bold red"
LOST = "bold red reverse"
BROKEN = "bold red"
CHANGED = "bold"
NAME = "bold"
ASIDE = "dim"

# Limits for a width of 100 columns.
MOST_SIDE_BY_SIDE = 2
MOST_BESIDE_THE_CONTROLLER = 3
CONTROLLER_WIDTH = len("no leader, ISR A,B")


@dataclass(frozen=True)
class _Line:
    """A horizontal line with a title at its left. Unlike rich's Rule, the line stays ASCII on an ASCII console."""

    title: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        title = Text(f" {self.title}" if self.title else "", NAME)
        title.truncate(max(0, options.max_width - 2))
        yield Rule(title, align="left", style=ASIDE, characters="-" if options.ascii_only else "\u2500")


def timeline(run: Run) -> RenderableType:
    """Return the drawing of one run, step by step."""
    return draw(story_of(run))


def side_by_side(run_a: Run, run_b: Run) -> RenderableType:
    """Return the drawing of two runs of one schedule. A step that looks equal in both runs is drawn once."""
    return draw(story_of(run_a, run_b))


def draw(story: Story) -> RenderableType:
    """Return the drawing of a story, the replays of one schedule, step by step."""
    table = _table(story)
    for moment in story.moments:
        if moment.parts:
            table.add_row(*(Rule(title, style=NAME, characters="=") for title in ("", "", captions.PARTING)))
        _add_step(table, moment, story.runs)
    parting = [_parting(story)] if len(story.runs) > 1 else []
    return Group(*map(_verdict, story.runs), *parting, _opening(story.opening), table, _Line(), _legend())


def _table(story: Story) -> Table:
    """Return an empty table with columns for the number, the event and the drawing of a step."""
    table = Table.grid(expand=True)
    table.add_column(width=len(str(len(story.moments))) + 1)
    table.add_column(width=max((len(moment.event) for moment in story.moments), default=0) + 2)
    table.add_column(ratio=1)
    return table


def _add_step(table: Table, moment: Moment, runs: tuple[Run, ...]) -> None:
    rule, body = _step(moment, runs)
    applied = any(scene.applied for scene in moment.scenes)
    table.add_row(_Line(), _Line(), rule)
    number = moment.label if moment.is_step else ""
    table.add_row(Text(number, ASIDE), Text(moment.event, NAME if applied else ASIDE), body)


def _step(moment: Moment, runs: tuple[Run, ...]) -> tuple[RenderableType, RenderableType]:
    """Return the line above a step, and the step's drawing under each protocol."""
    if not moment.shows_both:
        return _Line(), scene_drawing(moment.scenes[0])
    names = [_Line(run.protocol.name) for run in runs]
    if runs[0].settings.replicas <= MOST_SIDE_BY_SIDE:
        return _beside(*names), _beside(*(scene_drawing(scene, halved=True) for scene in moment.scenes))
    a, b = map(scene_drawing, moment.scenes)
    return names[0], Group(a, names[1], b)


def _beside(left: RenderableType, right: RenderableType) -> Table:
    table = Table(box=box.MINIMAL, show_header=False, show_edge=False, pad_edge=False, expand=True)
    table.add_column(ratio=1)
    table.add_column(ratio=1)
    table.add_row(left, right)
    return table


def _verdict(run: Run) -> Text:
    broken, permitted = captions.breaks(run), captions.permitted(run)
    verdicts = [Text(broken, BROKEN)] if broken else []
    verdicts += [Text(permitted)] if permitted else []
    return Text.assemble((run.protocol.name, NAME), " ", Text("; ").join(verdicts) or captions.verdict(run))


def _parting(story: Story) -> RenderableType:
    parts_at = story.parting
    if parts_at is None:
        return Text(captions.no_parting(story.runs))
    reasons = (Padding(Text.assemble("Under ", (name, NAME), f": {why}"), (0, 0, 0, 2)) for name, why in parts_at.under)
    return Group(Text(f"They part at step {parts_at.number}, {parts_at.event}."), *reasons)


def _opening(scene: Scene) -> Text:
    return Text(f"Start: {scene.sentence}", ASIDE)


def scene_drawing(scene: Scene, *, halved: bool = False) -> RenderableType:
    """Return the drawing of the state after one step, with a sentence. `halved` leaves out the controller's column."""
    if not scene.applied:
        return Text(scene.sentence, ASIDE)
    row = Table.grid(padding=(0, 1, 0, 0), expand=True)
    for _ in scene.replicas:
        row.add_column(ratio=1)
    columns = [_lines(_replica(replica, scene.controller)) for replica in scene.replicas]
    below = [Text(scene.sentence), *_broken(scene)]
    if halved or len(scene.replicas) > MOST_BESIDE_THE_CONTROLLER:
        at_epoch, *decided = _controller(scene)
        below.insert(0, Text.assemble(at_epoch, ": ", Text(", ").join(decided)))
    else:
        row.add_column(width=CONTROLLER_WIDTH)
        columns.append(_lines(_controller(scene)))
    row.add_row(*columns)
    return Group(row, *below)


def _lines(lines: Iterable[Text]) -> Text:
    return Text("\n").join(lines)


def _replica(replica: ReplicaScene, controller: ControllerScene) -> Iterator[Text]:
    yield Text.assemble((replica.name, NAME), " ", (captions.role(replica), CHANGED if replica.role_changed else ""))
    yield Text(" ").join(_log(replica)) or Text("(empty)", ASIDE)
    yield Text(" ").join(_figures(replica))
    known = CHANGED if "remote_leos" in replica.changed else ""
    yield from (Text(said, known) for said in captions.remote_leos(replica))
    yield from map(Text, captions.stable(replica))
    if on_disk := captions.on_disk(replica):
        yield Text(" ".join(on_disk), "" if replica.changed.isdisjoint(("flushed", "checkpointed")) else CHANGED)
    yield from (Text(said, CHANGED if "waiting" in replica.changed else "") for said in captions.waits(replica))
    if replica.in_flight:
        yield Text(f"<- {captions.in_flight(replica)}", CHANGED if "in_flight" in replica.changed else "")
    yield from map(Text, captions.proposal(replica, controller))
    if replica.request:
        arrow = "<-" if replica.request_is_answered else "->"
        yield Text(f"{arrow} {replica.request}", CHANGED if "request" in replica.changed else "")


def _log(replica: ReplicaScene) -> Iterator[Text]:
    """Yield the records of a log with their epochs, and also its truncated and missing records."""
    epoch = None
    for cell in replica.log:
        label = "" if cell.epoch == epoch else f"e{cell.epoch}"
        yield Text.assemble((label, ASIDE), ("+" if cell.appended else "", APPENDED), (_boxed(cell), _style(cell)))
        yield from (Text(f"!{place.record}", LOST) for place in replica.missing if place.offset == cell.offset)
        epoch = cell.epoch
    yield from (Text(f"-{_boxed(cell)}", CUT) for cell in replica.cut)
    yield from (Text(f"!{place.record}", LOST) for place in replica.missing if place.offset >= replica.leo)


def _boxed(cell: RecordCell) -> str:
    if cell.below_high_watermark:
        return f"[{cell.record}]"
    return f"{{{cell.record}}}" if cell.promised else f"({cell.record})"


def _style(cell: RecordCell) -> str:
    if cell.below_high_watermark:
        return BELOW_HIGH_WATERMARK
    return PROMISED if cell.promised else ""


def _figures(replica: ReplicaScene) -> Iterator[Text]:
    yield _figure("LEO", replica.previous_leo, replica.leo)
    yield _figure("HW", replica.previous_high_watermark, replica.high_watermark)


def _figure(name: str, previous: int, current: int) -> Text:
    return Text(captions.moved(name, previous, current), "" if previous == current else CHANGED)


def _controller(scene: Scene) -> Iterator[Text]:
    style = CHANGED if scene.controller.changed else ""
    yield from (Text(line, style) for line in captions.decision(scene.controller))
    yield from map(Text, captions.consumer(scene))
    if scene.committed:
        yield Text(" ").join([Text("committed"), *(_committed(scene, record) for record in scene.committed)])


def _committed(scene: Scene, record: str) -> Text:
    if record in scene.lost:
        return Text(f"!{record}", LOST)
    return Text(record, CHANGED if record in scene.newly_committed else "")


def _broken(scene: Scene) -> Iterator[Text]:
    if scene.newly_broken:
        yield Text.assemble((f"BROKEN: {', '.join(scene.newly_broken)}", LOST))


def _legend() -> RenderableType:
    """Return the meaning of the shapes, in the styles that the drawing uses."""
    return Group(
        Text.assemble(
            ("[m0]", BELOW_HIGH_WATERMARK),
            " below the HW here   ",
            ("{m0}", PROMISED),
            " above it, but committed or acknowledged   (m0) above it, and neither",
        ),
        Text.assemble(
            ("+", APPENDED),
            " appended  ",
            ("-", CUT),
            " truncated  ",
            ("!m0", LOST),
            " committed or acknowledged, but not here  ",
            ("e1", ASIDE),
            " epoch 1  <- response in flight",
        ),
    )
