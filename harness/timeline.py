"""The timeline: a run drawn for the terminal, each step with what happened, every log, and what the controller holds.

Shape carries everything, colour only underlines it: `[m0]` is below the replica's high watermark, `{m1}` is promised
to clients but not below it, `(m2)` is neither. The text is ASCII, so that it survives pipes, mail and old consoles.
"""


from rich import box
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from harness.narrative import Cell, Parting, ReplicaScene, Role, Scene, narrate, parting
from harness.replay import Run

# Only what reads on light and dark grounds alike: no white, no yellow, no bright colours, no background of our own.
COMMITTED = "reverse"
PROMISED = "bold magenta"
APPENDED = "bold green"
CUT = "red strike"
LOST = "bold red reverse"
BAD = "bold red"
CHANGED = "bold"
ASIDE = "dim"

# Logs wrap at spaces only. Three records are at most three times `[m10]` and fit the narrowest column.
RECORDS_PER_WORD = 3

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
    steps = [_step(scene, _scene(scene)) for scene in scenes]
    return Group(_heading(run), _aside(opening.sentence), *steps, Text(), _legend())


def side_by_side(run_a: Run, run_b: Run) -> RenderableType:
    """Two runs of one schedule: what they have in common is drawn once, and where they part is explained."""
    parts_at = parting(run_a, run_b)
    drawn: list[RenderableType] = [_heading(run_a), _heading(run_b)]
    together = True
    for scene_a, scene_b in zip(narrate(run_a), narrate(run_b), strict=True):
        if parts_at is not None and scene_a.number == parts_at.number:
            drawn.append(_parting(parts_at))
        if scene_a == scene_b:
            drawn.append(_step(scene_a, _scene(scene_a)))
        else:
            drawn.append(_step(scene_a, _halves(_scene(scene_a, True), _scene(scene_b, True))))
    return Group(*drawn, Text(), _legend())


def _heading(run: Run) -> RenderableType:
    verdict = Text(f"{run.protocol.name} ", style="bold")
    if run.broken:
        verdict.append(f"breaks {', '.join(run.broken)} at step {run.at}", style=BAD)
    else:
        verdict.append("keeps every promise")
    return verdict


def _aside(text: str) -> Text:
    return Text(text, style=ASIDE)


def _step(scene: Scene, body: RenderableType) -> RenderableType:
    row = Table.grid(padding=(0, 2, 0, 0), expand=True)
    row.add_column(width=3, justify="right", style=ASIDE)
    row.add_column(width=10)
    row.add_column(ratio=1)
    row.add_row(str(scene.number), Text(scene.event, style="bold" if scene.applied else ASIDE), body)
    return row


def _halves(left: RenderableType, right: RenderableType) -> RenderableType:
    row = Table(box=box.MINIMAL, show_header=False, show_edge=False, pad_edge=False, expand=True)
    row.add_column(ratio=1)
    row.add_column(ratio=1)
    row.add_row(left, right)
    return row


def _parting(parts_at: Parting) -> RenderableType:
    return Group(Rule("here they part", style="bold"), Text(parts_at.why, style="bold"), Rule(style="bold"))


def _scene(scene: Scene, compact: bool = False) -> RenderableType:
    sentence = Text(scene.sentence)
    if not scene.applied:
        sentence.stylize(ASIDE)
        return sentence
    drawn: list[RenderableType] = [sentence]
    row = Table.grid(padding=(0, 1, 0, 0), expand=True)
    for _ in scene.replicas:
        row.add_column(ratio=1)
    cells = [_replica(replica) for replica in scene.replicas]
    if not compact:
        row.add_column(width=18)
        cells.append(_controller(scene, "\n"))
    row.add_row(*cells)
    drawn.append(row)
    if compact:
        drawn.append(_controller(scene, ", "))
    if scene.newly_broken:
        drawn.append(Text(f"BROKEN: {', '.join(scene.newly_broken)}", style=LOST))
    return Group(*drawn)


def _replica(replica: ReplicaScene) -> Text:
    role = _ROLES[replica.role].format(leader=replica.leader, epoch=replica.epoch)
    lines = [Text.assemble((replica.name, "bold"), " ", role), _log(replica), _figures(replica)]
    if replica.in_flight:
        lines.append(Text(f"<- {replica.in_flight}"))
    return Text("\n").join(lines)


def _log(replica: ReplicaScene) -> Text:
    drawn = Text()
    epoch = None
    missing = {m.offset: m.record for m in replica.missing}
    for cell in replica.log:
        if cell.epoch != epoch:
            if epoch is not None:
                drawn.append(" ")
            drawn.append(f"e{cell.epoch}")
            epoch = cell.epoch
        drawn.append_text(_cell(cell))
        if cell.offset in missing:
            drawn.append(f"!{missing.pop(cell.offset)}", style=LOST)
    if replica.cut:
        drawn.append(" ")
        for cell in replica.cut:
            drawn.append("-" + _boxed(cell), style=CUT)
    for record in missing.values():
        drawn.append(f" !{record}", style=LOST)
    if not drawn:
        drawn.append("(empty)", style=ASIDE)
    return drawn


def _boxed(cell: Cell) -> str:
    if cell.below_high_watermark:
        return f"[{cell.record}]"
    return f"{{{cell.record}}}" if cell.promised else f"({cell.record})"


def _cell(cell: Cell) -> Text:
    style = COMMITTED if cell.below_high_watermark else PROMISED if cell.promised else ""
    t = Text()
    if cell.appended:
        t.append("+", APPENDED)
    t.append(_boxed(cell), style)
    return t


def _figure(name: str, old: int, new: int) -> Text:
    if old != new:
        return Text(f"{name} {old}->{new}", style=CHANGED)
    return Text(f"{name} {new}")


def _figures(replica: ReplicaScene) -> Text:
    return Text(" ").join(
        [
            _figure("LEO", replica.previous_leo, replica.leo),
            _figure("HW", replica.previous_high_watermark, replica.high_watermark),
        ]
    )


def _controller(scene: Scene, separator: str) -> Text:
    c = scene.controller
    t = Text(f"controller: {c.leader or 'none'}, e{c.epoch}{separator}ISR {','.join(c.isr)}")
    if scene.committed:
        t.append(f"{separator}committed")
        for r in scene.committed:
            t.append(" ")
            t.append(f"!{r}" if r in scene.lost else r, LOST if r in scene.lost else "")
    return t


def _legend() -> RenderableType:
    return _aside(
        "[m0] below the HW here  {m0} promised to clients, not below the HW here  (m0) neither  e1 leader epoch from "
        "here on  +appended  -cut  !m0 promised, and not there  <- in flight"
    )
