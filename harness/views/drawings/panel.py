"""Draw the state after one step (a scene) as SVG. Each replica's log is a row of boxes, aligned by offset.

Shapes carry all information, and colour only emphasizes it. A record below the high watermark has a solid box. A
record above the high watermark that is committed or acknowledged has a round box with a double edge. Any other record
has a box with a dashed outline. A truncated record is crossed out. A missing record is an octagon with an exclamation
mark. Colours are in figures.css.
"""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

from epochfuzz.harness.trace.scenes import Missing, RecordCell, ReplicaScene, Role, Scene
from epochfuzz.harness.views.drawings import captions

CELL = 48  # pixels from one offset to the next
_BOX = 40
_HEIGHT = 30
_LEFT = 146  # for names and roles
_RIGHT = 34  # for the half of a mark beyond the last offset
_TOP = 40  # for the controller's view and the offsets
_ROW = 86
_BOX_TOP = 24
_NOTES = 67  # the baseline of the first note under a name
_NOTE = 12
_TO = "M0 {y} l7 -5 v3 h7 v4 h-7 v3 z"
_FROM = "M14 {y} l-7 -5 v3 h-7 v4 h7 v3 z"
_CHANGED = "changed"  # the CSS class of texts that the step changed


def width(columns: int) -> int:
    """Return the width of a panel with room for `columns` records, in pixels."""
    return max(_LEFT + columns * CELL + _RIGHT, 330)


def height(scene: Scene) -> int:
    """Return the height of a panel, in pixels."""
    return _TOP + sum(_row_height(replica, scene) for replica in scene.replicas)


def _row_height(replica: ReplicaScene, scene: Scene) -> int:
    """Return the height of a replica's row, in pixels. The height grows with the number of notes about the replica."""
    notes = [note for note in _notes(replica, scene) if note.said]
    return max(_ROW, _NOTES + len(notes) * _NOTE - 5)


def panel(scene: Scene, columns: int) -> ET.Element:
    """Return the drawing of a scene as an SVG group.

    The size of the drawing is `width(columns)` by `height(scene)` pixels.
    """
    group = ET.Element("g", {"class": "panel"})
    _controller(group, scene)
    for offset in range(columns):
        text(group, _x(offset) + _BOX / 2, _TOP - 4, str(offset), "faint middle small")
    top = _TOP
    for replica in scene.replicas:
        row = ET.SubElement(group, "g", {"transform": f"translate(0 {top})"})
        if top > _TOP:
            _line(row, 0, 0, width(columns), 0, "rule")
        _name(row, replica, _notes(replica, scene))
        _log(row, replica, scene.newly_committed)
        _marks(row, replica)
        top += _row_height(replica, scene)
    return group


def text(parent: ET.Element, x: float, y: float, content: str, classes: str = "") -> ET.Element:
    """Add a line of text to an SVG element. Returns the added element. `y` is the baseline of the text."""
    element = ET.SubElement(parent, "text", {"x": f"{x:g}", "y": f"{y:g}"} | ({"class": classes} if classes else {}))
    element.text = content
    return element


def _controller(group: ET.Element, scene: Scene) -> None:
    at_epoch, decided, *others = captions.decision(scene.controller)
    others += captions.consumer(scene)
    line = text(group, 0, 14, "")
    _part(line, f"{at_epoch}: {decided}", _CHANGED if scene.controller.changed else "")
    if others:
        text(group, 0, 28, ", ".join(others))
    if scene.committed:
        _part(line, ", committed")
    for record in scene.committed:
        if record in scene.lost:
            _part(line, f" !{record}", "lost")
        else:
            _part(line, f" {record}", "bold" if record in scene.newly_committed else "")


def _part(line: ET.Element, content: str, classes: str = "") -> None:
    ET.SubElement(line, "tspan", {"class": classes} if classes else {}).text = content


@dataclass(frozen=True)
class _Note:
    """A note under a replica's name. `arrow` is the SVG path of an arrow in front of the note, or empty."""

    said: str
    arrow: str = ""
    classes: str = ""


def _notes(replica: ReplicaScene, scene: Scene) -> list[_Note]:
    """Return the notes about a replica, such as messages in flight, ISR proposals, and offsets on disk."""

    def marked(*names: str) -> str:
        return "" if replica.changed.isdisjoint(names) else _CHANGED

    notes = [_Note("fenced", classes=marked("fenced"))] if replica.fenced else []
    notes += [_Note(said, classes=marked("remote_leos")) for said in captions.remote_leos(replica)]
    if replica.in_flight:
        notes.append(_Note(replica.in_flight, _TO, marked("in_flight")))
    if given_by := captions.given_by(replica):
        notes.append(_Note(given_by))
    notes += [
        _Note(said, classes=marked("isr", "pending_isr")) for said in captions.proposal(replica, scene.controller)
    ]
    if replica.request:
        notes.append(_Note(replica.request, _TO if replica.request_is_answered else _FROM, marked("request")))
    notes += [_Note(said, classes=marked("waiting")) for said in captions.waits(replica)]
    on_disk = f"faint small {marked('flushed', 'checkpointed')}".rstrip()
    return [*notes, _Note(", ".join([*captions.stable(replica), *captions.on_disk(replica)]), classes=on_disk)]


def _name(row: ET.Element, replica: ReplicaScene, notes: Sequence[_Note]) -> None:
    """Draw a replica's letter in a badge whose outline shows the role. Write the role and the notes next to it."""
    if replica.role in (Role.LEADER, Role.ZOMBIE, Role.RIVAL):
        _box(row, 1, 27, 24, 24, 4, "leader" if replica.role is Role.LEADER else "zombie")
    else:
        gone = " gone" if replica.role is Role.DOWN else ""
        ET.SubElement(row, "circle", {"cx": "13", "cy": "39", "r": "12", "class": f"follower{gone}"})
    text(row, 13, 43.5, replica.name, "middle bold" + (" onsolid" if replica.role is Role.LEADER else ""))
    if replica.role is Role.DOWN:
        _line(row, 4, 48, 22, 30, "cross")
    does, epoch = captions.role_parts(replica)
    changed = f" {_CHANGED}" if replica.role_changed else ""
    text(row, 32, 36 if epoch else 43, does, changed.strip())
    text(row, 32, 49, epoch, ("bold" if replica.role in (Role.ZOMBIE, Role.RIVAL) else "faint") + changed)
    for below, note in enumerate(notes):
        y = _NOTES + below * _NOTE
        if note.arrow:
            ET.SubElement(row, "path", {"d": note.arrow.format(y=y - 4), "class": "arrow"})
        text(row, 18 if note.arrow else 0, y, note.said, note.classes)


def _log(row: ET.Element, replica: ReplicaScene, newly_committed: Sequence[str]) -> None:
    for cell in replica.log:
        _cell(row, cell, "below" if cell.below_high_watermark else "promised" if cell.promised else "plain")
        if cell.appended:
            _badge(row, _x(cell.offset), _BOX_TOP, "+", "appended")
        if cell.below_high_watermark and cell.record in newly_committed:
            _badge(row, _x(cell.offset) + _BOX, _BOX_TOP, "\u2713", "committed")
    for cell in replica.cut:
        x, y = _x(cell.offset), _BOX_TOP
        _line(row, x, y, x + _BOX, y + _HEIGHT, "cross")
        _line(row, x, y + _HEIGHT, x + _BOX, y, "cross")
        _cell(row, cell, "cut")
    for missing in replica.missing:
        _missing(row, missing, taken=missing.offset < replica.previous_leo or missing.offset < replica.leo)
    if not (replica.log or replica.cut or replica.missing):
        text(row, _x(0), _BOX_TOP + 19, "empty log", "faint")


def _cell(row: ET.Element, cell: RecordCell, classes: str) -> None:
    x = _x(cell.offset)
    rounded = 9 if classes == "promised" else 2
    _box(row, x, _BOX_TOP, _BOX, _HEIGHT, rounded, f"box {classes}")
    if classes == "promised":
        _box(row, x + 3, _BOX_TOP + 3, _BOX - 6, _HEIGHT - 6, rounded - 3, "box promised inner")
    on = " onsolid" if classes == "below" else " oncross" if classes == "cut" else ""
    text(row, x + _BOX / 2, _BOX_TOP + 20, cell.record, f"middle record{on}")
    text(row, x + _BOX / 2, _BOX_TOP + _HEIGHT + 12, f"e{cell.epoch}", "middle faint small")


def _missing(row: ET.Element, missing: Missing, *, taken: bool) -> None:
    """Draw an octagon for a missing record, at the offset where the record belongs.

    If another record is there (`taken`), draw a small octagon in the corner of that record's box.
    """
    x, y, wide, high = _x(missing.offset), float(_BOX_TOP), float(_BOX), float(_HEIGHT)
    if taken:
        x, y, wide, high = x - 9, y - 11, 28.0, 17.0
    corner = high / 3.4
    across, down = wide - 2 * corner, high - 2 * corner
    outline = (
        f"M{x + corner:g} {y:g} h{across:g} l{corner:g} {corner:g} v{down:g} l{-corner:g} {corner:g} "
        f"h{-across:g} l{-corner:g} {-corner:g} v{-down:g} z"
    )
    ET.SubElement(row, "path", {"d": outline, "class": "missing"})
    text(
        row, x + wide / 2, y + high / 2 + 4.5, f"!{missing.record}", "middle onsolid" + (" small" if taken else " bold")
    )


def _marks(row: ET.Element, replica: ReplicaScene) -> None:
    """Draw the high watermark as a line from above, and the log end offset as a wedge from below."""
    bottom = _BOX_TOP + _HEIGHT
    x = _between(replica.high_watermark)
    _line(row, x, 17, x, bottom + 3, "watermark")
    moved = captions.moved("HW", replica.previous_high_watermark, replica.high_watermark, "\u2192")
    changed = replica.previous_high_watermark != replica.high_watermark
    text(row, x, 14, moved, "middle watermarktext" + (f" {_CHANGED}" if changed else ""))
    x = _between(replica.leo)
    ET.SubElement(row, "path", {"d": f"M{x:g} {bottom + 3:g} l5 9 h-10 z", "class": "end"})
    moved = captions.moved("LEO", replica.previous_leo, replica.leo, "\u2192")
    changed = replica.previous_leo != replica.leo
    text(row, x, bottom + 23, moved, "middle" + (f" {_CHANGED}" if changed else ""))


def _badge(row: ET.Element, x: float, y: float, sign: str, classes: str) -> None:
    ET.SubElement(row, "circle", {"cx": f"{x:g}", "cy": f"{y:g}", "r": "7", "class": f"badge {classes}"})
    text(row, x, y + 4, sign, "middle bold onsolid")


def _box(row: ET.Element, x: float, y: float, wide: float, high: float, rounded: float, classes: str) -> None:
    size = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{wide:g}", "height": f"{high:g}", "rx": f"{rounded:g}"}
    ET.SubElement(row, "rect", {**size, "class": classes})


def _line(row: ET.Element, x1: float, y1: float, x2: float, y2: float, classes: str) -> None:
    ends = {"x1": f"{x1:g}", "y1": f"{y1:g}", "x2": f"{x2:g}", "y2": f"{y2:g}"}
    ET.SubElement(row, "line", {**ends, "class": classes})


def _x(offset: int) -> float:
    return _LEFT + 4 + offset * CELL


def _between(offset: int) -> float:
    """Return the x coordinate of the gap before the box of an offset."""
    return _x(offset) - (CELL - _BOX) / 2
