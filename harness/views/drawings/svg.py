"""Draw the replay of a schedule as SVG, one step below another.

Two protocols are drawn side by side from their first difference on. The file embeds its style sheet, which follows the
light or dark mode of the reader's browser.
"""

import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Container, Iterable
from importlib.resources import files

from epochfuzz.harness.trace.scenes import Scene
from epochfuzz.harness.trace.story import Moment, Story
from epochfuzz.harness.views.drawings import captions, panel

_MARGIN = 20
_EVENTS = 132  # width of the column with the number and the event of each step
_GAP = 28
_LEADING = 16
_UNBROKEN = "\u00a0"
_CHARACTER = 6.0  # slightly more than the width of an average character


def drawing(story: Story, title: str, steps: Container[int] | None = None) -> str:
    """Return the text of an SVG file with the drawing of a story.

    The file draws the steps in `steps`, and only lists the other steps. With None, it draws all steps.
    """
    return Sheet(story).drawn(title, steps)


def style() -> str:
    """Return the CSS text of the style sheet that all figures use."""
    return (files("epochfuzz.harness.views.drawings") / "figures.css").read_text(encoding="utf-8")


def figure(scene: Scene, columns: int) -> str:
    """Return one scene as the text of a scalable <svg> element, for a page that contains the style sheet of `style`."""
    wide, high = panel.width(columns), panel.height(scene)
    root = _root(wide, high, scene.sentence)
    root.set("style", f"min-width:{least_width(columns)}px;max-width:{1.4 * wide:.0f}px")
    root.append(panel.panel(scene, columns))
    return ET.tostring(root, encoding="unicode")


def least_width(columns: int) -> int:
    """Return the minimum width of a figure with `columns` records, in pixels."""
    return round(0.85 * panel.width(columns))


def _root(wide: float, high: float, label: str) -> ET.Element:
    box = {"viewBox": f"0 0 {wide:g} {high:g}", "width": f"{wide:g}", "height": f"{high:g}"}
    return ET.Element("svg", {**box, "class": "figure", "role": "img", "aria-label": label})


class Sheet:
    """An SVG drawing of a story.

    The methods add content from top to bottom. `y` is the vertical position of the next content, in pixels.
    """

    def __init__(self, story: Story) -> None:
        self.story = story
        self.columns = story.longest_log
        self.pane = panel.width(self.columns)
        self.width = 2 * _MARGIN + _EVENTS + len(story.runs) * self.pane + (len(story.runs) - 1) * _GAP
        self.body = ET.Element("g")
        self.y = float(_MARGIN)

    def drawn(self, title: str, steps: Container[int] | None) -> str:
        """Return the text of the SVG file, with drawings of `steps` (None: all steps) and a list of other steps."""
        self.write_title(title)
        self._heading()
        passed: list[str] = []
        for moment in self.story.moments:
            if steps is None or moment.number in steps:
                self._name(passed)
                self.write_moment(moment)
                passed = []
            elif moment.is_step:
                passed.append(f"{moment.number} {moment.event}".replace(" ", _UNBROKEN))
        self._name(passed)
        self.write_legend()
        return self.whole(title, style(), [self.body])

    def _name(self, steps: list[str]) -> None:
        if steps:
            self.write(", ".join(steps), "faint")

    def write_title(self, title: str) -> None:
        """Write the title in large letters."""
        self.y += 14
        panel.text(self.body, _MARGIN, self.y, title, "title")
        self.y += 8

    def whole(self, title: str, sheet: str, parts: Iterable[ET.Element]) -> str:
        """Return the text of an SVG file with the given parts. The picture ends just below `y`. `sheet` is CSS text."""
        root = _root(self.width, self.y + _MARGIN, title)
        root.set("xmlns", "http://www.w3.org/2000/svg")
        ET.SubElement(root, "style").text = sheet
        ET.SubElement(root, "rect", {"class": "ground", "width": "100%", "height": "100%"})
        root.extend(parts)
        return ET.tostring(root, encoding="unicode") + "\n"

    def _heading(self) -> None:
        for run in self.story.runs:
            self.write(f"{run.protocol.name} {captions.verdict(run)}", "lost" if run.broken else "bold")
        if self.story.parting:
            self.write(f"They part at step {self.story.parting.number}, {self.story.parting.event}.", "banner")
            for name, why in self.story.parting.under:
                self.write(f"Under {name}: {why}")
        elif len(self.story.runs) > 1:
            self.write(captions.no_parting(self.story.runs))
        self.write(f"Start: {self.story.opening.sentence}", "faint")

    def write_moment(self, moment: Moment) -> None:
        """Draw one step of the story: its event, and the state after it under each protocol."""
        start = self.y
        band = ET.SubElement(self.body, "rect", {"class": "band"}) if moment.parts else None
        self.y += _LEADING
        ends = {"x1": str(_MARGIN), "x2": f"{self.width - _MARGIN}", "y1": f"{start + 6:g}", "y2": f"{start + 6:g}"}
        ET.SubElement(self.body, "line", {**ends, "class": "rule"})
        top = self.y + _LEADING
        title = f"{moment.number}  {moment.event}" if moment.is_step else moment.event
        panel.text(self.body, _MARGIN, top, title, "event")
        if moment.parts:
            panel.text(self.body, _MARGIN, top + 20, f"\u25c6 {captions.PARTING}", "banner")
        ends_at = [self._scene(scene, i, moment.shows_both, self.y) for i, scene in enumerate(moment.scenes)]
        self.y = max(ends_at)
        if band is not None:
            size = {"x": "0", "y": f"{start + 6:g}", "width": f"{self.width:g}", "height": f"{self.y - start:g}"}
            band.attrib.update(size)

    def _scene(self, scene: Scene, index: int, shows_both: bool, y: float) -> float:
        x = _MARGIN + _EVENTS + index * (self.pane + _GAP)
        if shows_both:
            y += _LEADING
            panel.text(self.body, x, y, self.story.runs[index].protocol.name, "event")
            y += 4
        if scene.applied:
            drawn = panel.panel(scene, self.columns)
            drawn.set("transform", f"translate({x:g} {y:g})")
            self.body.append(drawn)
            y += panel.height(scene)
        room = self.pane if shows_both else self.width - _MARGIN - x
        y = self._wrapped(x, y, room, scene.sentence, "" if scene.applied else "faint")
        if scene.newly_broken:
            y = self._wrapped(x, y, room, f"\u2716 BROKEN: {', '.join(scene.newly_broken)}", "lost")
        return y + 4

    def write_legend(self) -> None:
        """Write the legend of the drawing's shapes."""
        self.y += 10
        for line in captions.LEGEND:
            self.write(line, "faint")

    def write(self, content: str, classes: str = "") -> None:
        """Write text in wrapped lines across the whole width of the sheet."""
        self.y = self._wrapped(_MARGIN, self.y, self.width - 2 * _MARGIN, content, classes)

    def _wrapped(self, x: float, y: float, room: float, content: str, classes: str) -> float:
        for line in textwrap.wrap(content, int(room / _CHARACTER)):
            y += _LEADING
            panel.text(self.body, x, y, line, classes)
        return y
