"""Draw the replay of a schedule as a film: an SVG file that shows one step after another, in a loop.

A film works without scripts and without any installation, for example in a README. With the system setting for reduced
motion, the film shows only the last step.
"""

import xml.etree.ElementTree as ET

from epochfuzz.harness.trace.story import Story
from epochfuzz.harness.views.drawings import captions, svg

_SECONDS = 3.5  # the film shows each step for this time


def film(story: Story, title: str) -> str:
    """Return an SVG file, as text, that shows each step of the story for 3.5 seconds."""
    sheet = svg.Sheet(story)
    sheet.write_title(title)
    for run in story.runs:
        sheet.write(f"{run.protocol.name} {captions.verdict(run)}", "lost" if run.broken else "bold")
    parts, top, bottom = [sheet.body], sheet.y, sheet.y
    for number, moment in enumerate(story.moments):
        sheet.body, sheet.y = (
            ET.Element("g", {"class": "frame", "style": f"animation-delay:{number * _SECONDS:g}s"}),
            top,
        )
        sheet.write_moment(moment)
        parts.append(sheet.body)
        bottom = max(bottom, sheet.y)
    sheet.body, sheet.y = ET.Element("g"), bottom
    sheet.write_legend()
    return sheet.whole(title, svg.style() + _style(len(story.moments)), [*parts, sheet.body])


def _style(frames: int) -> str:
    """Return the CSS rules that show one frame after another. `frames` is the number of frames."""
    return f"""
@keyframes turn {{ 0% {{ opacity: 1 }} {100 / frames:.3f}% {{ opacity: 0 }} 100% {{ opacity: 0 }} }}
svg.figure .frame {{ opacity: 0; animation: turn {frames * _SECONDS:g}s step-end infinite; }}
@media (prefers-reduced-motion: reduce) {{
  svg.figure .frame {{ animation: none; }}
  svg.figure .frame:nth-last-child(2) {{ opacity: 1; }}
}}
"""
