"""The timeline: a run drawn for the terminal; each step shows every log, the controller's view, and a sentence.

Shape carries everything and colour only underlines it: `[m0]` is below the replica's high watermark, `{m1}` is
promised to clients although it is not, `(m2)` is neither. The drawing itself is ASCII, so that it survives pipes, mail
and old consoles.
"""

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from harness.narrative import Cell, ReplicaScene, Role, Scene, narrate, parting
from harness.replay import Run

# Styles that read on light and dark grounds alike: no white, no yellow, nothing bright, no ground of our own.
BELOW_HIGH_WATERMARK = "reverse"
PROMISED = "bold magenta"
APPENDED = "bold green"
CUT = "bold red"
LOST = "bold red reverse"
BROKEN = "bold red"
CHANGED = "bold"
NAME = "bold"
ASIDE = "dim"

CONTROLLER_WIDTH = len("controller: A leads e10")
MOST_BESIDE_THE_CONTROLLER = 3  # replicas that leave it a column of its own in 100 columns
MOST_SIDE_BY_SIDE = 2  # replicas whose drawings fit twice into 100 columns

_ROLES = {
    Role.LEADER: "leads e{epoch}",
    Role.ZOMBIE: "leads e{epoch} (zombie)",
    Role.FOLLOWER: "follows {leader}, e{epoch}",
    Role.TRUNCATING: "truncates to {leader}, e{epoch}",
    Role.LEADERLESS: "knows no leader",
    Role.DOWN: "is down",
}


def timeline(run: Run) -> RenderableType:
    """One run, a step at a time."""
    opening, *scenes = narrate(run)
    steps = (_step(scene, scenes, _scene(scene)) for scene in scenes)
    return Group(_verdict(run), _opening(opening), *steps, _legend())


def side_by_side(run_a: Run, run_b: Run) -> RenderableType:
    """Two runs of one schedule. A step that looks the same under both is drawn once, any other beside each other."""
    (opening, *scenes_a), (_, *scenes_b) = narrate(run_a), narrate(run_b)
    parts = parting(run_a, run_b)
    drawn: list[RenderableType] = [_verdict(run_a), _verdict(run_b)]
    if parts is None:
        drawn.append(Text("They do not part."))
    else:
        drawn.append(Text(f"They part at step {parts.number}, {parts.event}:"))
        drawn += (Text.assemble("  under ", (name, NAME), f": {why}") for name, why in parts.under)
    drawn.append(_opening(opening))
    names = Text(run_a.protocol.name, NAME), Text(run_b.protocol.name, NAME)
    for a, b in zip(scenes_a, scenes_b, strict=True):
        if parts is not None and a.number == parts.number:
            drawn.append(Rule("here they part", style=NAME, characters="="))
        drawn.append(_step(a, scenes_a, _scene(a) if a == b else _both(names, a, b)))
    return Group(*drawn, _legend())


def _verdict(run: Run) -> Text:
    text = Text.assemble((run.protocol.name, NAME), " ")
    if not run.first_broken:
        return text.append("keeps every promise")
    verdicts = []
    if run.broken:
        verdicts.append(Text(f"breaks {_first_broken(run, run.broken)}", BROKEN))
    if run.permitted:
        verdicts.append(Text(f"breaks {_first_broken(run, run.permitted)}, as acks={run.settings.acks} permits"))
    return text.append_text(Text("; ").join(verdicts))


def _first_broken(run: Run, properties: list[str]) -> str:
    return ", ".join(f"{name} at step {run.first_broken[name]}" for name in properties)


def _opening(scene: Scene) -> Text:
    return Text(f"Start: {scene.sentence}", ASIDE)


def _step(scene: Scene, scenes: list[Scene], body: RenderableType) -> RenderableType:
    row = Table.grid(padding=(0, 2, 0, 0), expand=True)
    row.add_column(width=len(str(len(scenes))), justify="right", style=ASIDE)
    row.add_column(width=max(len(other.event) for other in scenes))
    row.add_column(ratio=1)
    row.add_row(str(scene.number), Text(scene.event, NAME if scene.applied else ASIDE), body)
    return Group(Rule(style=ASIDE), row)


def _both(names: tuple[Text, Text], a: Scene, b: Scene) -> RenderableType:
    """Two scenes of one step, each under the name of its protocol: beside each other, or where that is too wide below."""
    if len(a.replicas) > MOST_SIDE_BY_SIDE:
        return Group(names[0], _scene(a), names[1], _scene(b))
    row = Table(box=box.MINIMAL, show_header=False, show_edge=False, pad_edge=False, expand=True)
    row.add_column(ratio=1)
    row.add_column(ratio=1)
    row.add_row(*names)
    row.add_row(_scene(a, beside_another=True), _scene(b, beside_another=True))
    return row


def _scene(scene: Scene, *, beside_another: bool = False) -> RenderableType:
    if not scene.applied:
        return Text(scene.sentence, ASIDE)
    row = Table.grid(padding=(0, 1, 0, 0), expand=True)
    for _ in scene.replicas:
        row.add_column(ratio=1)
    columns = [_lines(_replica(replica)) for replica in scene.replicas]
    below: list[RenderableType] = [Text(scene.sentence), *_broken(scene)]
    if beside_another or len(scene.replicas) > MOST_BESIDE_THE_CONTROLLER:
        below.insert(0, _lines(_controller(scene)))
    else:
        row.add_column(width=CONTROLLER_WIDTH)
        columns.append(_lines(_controller(scene)))
    row.add_row(*columns)
    return Group(row, *below)


def _lines(lines: Iterator[Text]) -> Text:
    return Text("\n").join(lines)


def _replica(replica: ReplicaScene) -> Iterator[Text]:
    role = _ROLES[replica.role].format(leader=replica.leader, epoch=replica.epoch)
    yield Text.assemble((replica.name, NAME), " ", role)
    yield Text(" ").join(_log(replica)) if replica.log or replica.cut or replica.missing else Text("(empty)", ASIDE)
    yield Text(" ").join(_figures(replica))
    if replica.in_flight:
        yield Text(f"<- {replica.in_flight}")


def _log(replica: ReplicaScene) -> Iterator[Text]:
    """The log a box at a time, the epoch before its first record; then what was cut, and what should be there."""
    epoch = None
    for cell in replica.log:
        label = "" if cell.epoch == epoch else f"e{cell.epoch}"
        yield Text.assemble((label, ASIDE), ("+" if cell.appended else "", APPENDED), (_boxed(cell), _style(cell)))
        yield from (Text(f"!{place.record}", LOST) for place in replica.missing if place.offset == cell.offset)
        epoch = cell.epoch
    yield from (Text(f"-{_boxed(cell)}", CUT) for cell in replica.cut)
    yield from (Text(f"!{place.record}", LOST) for place in replica.missing if place.offset >= replica.leo)


def _boxed(cell: Cell) -> str:
    if cell.below_high_watermark:
        return f"[{cell.record}]"
    return f"{{{cell.record}}}" if cell.promised else f"({cell.record})"


def _style(cell: Cell) -> str:
    if cell.below_high_watermark:
        return BELOW_HIGH_WATERMARK
    return PROMISED if cell.promised else ""


def _figures(replica: ReplicaScene) -> Iterator[Text]:
    yield _figure("LEO", replica.previous_leo, replica.leo)
    yield _figure("HW", replica.previous_high_watermark, replica.high_watermark)
    if replica.flushed is not None:
        yield Text(f"flushed {replica.flushed}")
    if replica.checkpointed is not None:
        yield Text(f"checkpointed {replica.checkpointed}")


def _figure(name: str, previous: int, current: int) -> Text:
    return Text(f"{name} {current}") if previous == current else Text(f"{name} {previous}->{current}", CHANGED)


def _controller(scene: Scene) -> Iterator[Text]:
    decided = scene.controller
    yield Text(f"controller: {decided.leader or 'nobody'} leads e{decided.epoch}")
    yield Text(f"ISR {','.join(decided.isr)}")
    if scene.committed:
        records = (Text(f"!{record}", LOST) if record in scene.lost else Text(record) for record in scene.committed)
        yield Text(" ").join([Text("committed"), *records])


def _broken(scene: Scene) -> Iterator[Text]:
    if scene.newly_broken:
        yield Text.assemble((f"BROKEN: {', '.join(scene.newly_broken)}", LOST))


def _legend() -> RenderableType:
    """What the shapes mean, in the styles they are drawn in."""
    return Group(
        Rule(style=ASIDE),
        Text.assemble(
            ("[m0]", BELOW_HIGH_WATERMARK),
            " below the HW here   ",
            ("{m0}", PROMISED),
            " committed or acknowledged, yet above the HW here   (m0) above the HW",
        ),
        Text.assemble(
            ("+", APPENDED),
            " appended   ",
            ("-", CUT),
            " cut   ",
            ("!m0", LOST),
            " committed or acknowledged, yet not here   ",
            ("e1", ASIDE),
            " leader epoch 1   <- answer in flight",
        ),
    )
