"""Render a report into a single HTML file that loads nothing: it contains the styles, the script and the figures.

The texts of a report come from case files and command lines, so the templates escape them. Only figures and plots,
which epochfuzz draws, are markup.
"""

import math
from collections.abc import Sequence

from jinja2 import Environment
from markupsafe import Markup, escape

from epochfuzz.harness.documents.records import Discovery
from epochfuzz.harness.engine.explore.estimate import CONFIDENCE
from epochfuzz.harness.links.play_link import LOCAL
from epochfuzz.harness.reference import issues
from epochfuzz.harness.views.report import templating
from epochfuzz.harness.views.report.page import ReportPage


def render(page: ReportPage) -> str:
    """Return the HTML text of a report."""
    return environment().get_template("report.html").render(page=page)


def environment(*packages: str) -> Environment:
    """Return the Jinja environment with the report's templates and filters. Templates of `packages` take precedence."""
    environment = templating.environment(*packages)
    environment.globals |= {"plot": _plot, "confidence": CONFIDENCE, "local": LOCAL}
    environment.filters |= {"odds": _odds, "issues_linked": _issues_linked}
    return environment


def _odds(probability: float) -> str:
    return f"1 in {1 / probability:,.0f}" if probability > 0 else "0"


def _issues_linked(text: str) -> Markup:
    """Return escaped text with a link for each KIP and JIRA issue, such as `KIP-101`."""
    return Markup(issues.NUMBER.sub(lambda found: f'<a href="{issues.link(found[0])}">{found[0]}</a>', escape(text)))


def _plot(curve: Sequence[Discovery]) -> Markup:
    """Return the plot of a discovery curve: the situations met, over the number of schedules on a logarithmic axis."""
    import pygal  # an optional dependency, which the report of a case does not need

    from epochfuzz.harness.views.report import plots

    chart = pygal.XY(
        **plots.options(
            show_legend=False,
            include_x_axis=True,
            x_value_formatter=lambda exponent: f"{10**exponent:,.0f}",
            x_title="schedules",
            y_title="situations seen",
        )
    )
    chart.x_labels = range(math.ceil(math.log10(curve[-1].schedules)) + 1)
    chart.add("situations", [(math.log10(each.schedules), each.situations) for each in curve])
    return plots.drawn(chart, "discovery")
