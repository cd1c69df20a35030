"""HTML: a page rendered into one file that loads nothing: styles, script and figures are inside.

What a page says comes from case files and command lines, so everything is escaped; only figures and plots, which are
made here, are markup.
"""

import re
from collections.abc import Sequence

import pygal
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from pygal.style import Style

from harness.figures import captions, svg
from harness.narrative import Scene
from harness.report.page import Coverage, Page

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)  # pygal's, with the date


def render(page: Page) -> str:
    """The text of the HTML file."""
    environment = Environment(
        loader=PackageLoader("harness.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"captions": captions, "figure": _figure, "plot": _plot, "style": Markup(svg.style())}
    environment.filters |= {"odds": _odds, "breakable": _breakable}
    return environment.get_template("report.html").render(page=page)


def _figure(scene: Scene, columns: int) -> Markup:
    return Markup(svg.figure(scene, columns))


def _odds(probability: float) -> str:
    return f"1 in {1 / probability:,.0f}" if probability > 0 else "0"


def _breakable(protocol: str) -> Markup:
    """A protocol's name, which may be long, with the places at which a line may end."""
    return Markup("").join(part + Markup("<wbr>") for part in re.split(r"(?<=[:=_,])", protocol))


def _plot(coverage: Sequence[Coverage]) -> Markup:
    """The discovery curve of each protocol."""
    style = Style(
        foreground="var(--ink)",
        foreground_strong="var(--ink)",
        foreground_subtle="var(--faint)",
        guide_stroke_color="var(--rule)",
        major_guide_stroke_color="var(--rule)",
        background="transparent",
        plot_background="transparent",
        colors=tuple(f"var(--{name})" for name in ("below", "promised", "added", "accent", "lost")),
        font_family="inherit",
        label_font_size=12,
        major_label_font_size=12,
    )
    chart = pygal.XY(
        style=style,
        js=[],
        width=720,
        height=300,
        show_legend=len(coverage) > 1,
        legend_at_bottom=True,
        dots_size=2,
        include_x_axis=True,
        disable_xml_declaration=True,
        value_formatter=lambda value: f"{value:,.0f}",
        x_value_formatter=lambda value: f"{value:,.0f}",
        x_title="schedules",
        y_title="situations seen",
    )
    chart.uuid = "discovery"  # pygal's own would differ from run to run
    for each in coverage:
        chart.add(each.protocol, list(each.curve))
    return Markup(_COMMENT.sub("", chart.render(is_unicode=True)))
