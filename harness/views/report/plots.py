"""Plot curves as SVG, in the colours of the page around them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pygal
from markupsafe import Markup
from pygal.style import Style

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)  # pygal's comment, which contains the date
_STYLE = Style(
    foreground="var(--ink)",
    foreground_strong="var(--ink)",
    foreground_subtle="var(--faint)",
    guide_stroke_color="var(--rule)",
    major_guide_stroke_color="var(--rule)",
    background="transparent",
    plot_background="transparent",
    colors=("var(--below)", "var(--promised)", "var(--added)", "var(--accent)", "var(--lost)", "var(--ink)"),
    font_family="inherit",
    label_font_size=12,
    major_label_font_size=12,
    legend_font_size=12,
)


def options(**others: Any) -> dict[str, Any]:
    """Return the pygal options that all plots share, together with the given options."""
    common = {
        "style": _STYLE,
        "js": [],
        "width": 720,
        "height": 300,
        "dots_size": 2,
        "disable_xml_declaration": True,
        "value_formatter": lambda value: f"{value:,.0f}",
    }
    return common | others


def drawn(chart: Any, name: str) -> Markup:
    """Return a pygal chart as markup. `name` replaces pygal's random id, so equal numbers give equal markup."""
    chart.uuid = name  # pygal's random id would differ between runs
    return Markup(_COMMENT.sub("", chart.render(is_unicode=True)))


def lines(name: str, labels: Sequence[str], series: Mapping[str, Sequence[int | None]], y_title: str) -> Markup:
    """Return a plot with a line for each series. A value of a series belongs to the label in the same position.

    None marks a missing value. `name` is the id of the plot (see `drawn`), and `y_title` the title of the y axis.
    """
    marks = {"show_legend": True, "legend_at_bottom": True, "legend_at_bottom_columns": 1, "dots_size": 4}
    chart = pygal.Line(**options(include_x_axis=True, x_label_rotation=20, y_title=y_title, **marks))
    chart.x_labels = labels
    for title, values in series.items():
        chart.add(title, values, allow_interruptions=True)
    return drawn(chart, name)
