"""Write the history of several campaigns into a single HTML file that loads nothing."""

from collections.abc import Mapping, Sequence

from epochfuzz.harness.campaign.run.progress import duration
from epochfuzz.harness.campaign.store.history import History, configuration_text
from epochfuzz.harness.views import campaigns
from epochfuzz.harness.views.report import html, plots


def render(history: History) -> str:
    """Return the text of the HTML file about several campaigns."""
    environment = html.environment()
    environment.globals |= {
        "date": campaigns.date,
        "sighting": campaigns.sighting,
        "state": campaigns.state,
        "configuration": configuration_text,
        "duration": duration,
    }
    labels = [campaigns.date(each) for each in history.campaigns]
    return environment.get_template("history.html").render(
        history=history,
        new=history.new,
        no_longer_seen=history.no_longer_seen,
        found=plots.lines("findings", labels, _found(history), "findings"),
        covered=plots.lines("coverage", labels, _covered(history), "situations met so far") if history.growth else None,
    )


def _found(history: History) -> Mapping[str, Sequence[int]]:
    return {
        "known bugs": [len(each.so_far.found) - len(each.unexpected) for each in history.campaigns],
        "unexpected": [len(each.unexpected) for each in history.campaigns],
    }


def _covered(history: History) -> Mapping[str, Sequence[int | None]]:
    """Return the growth of coverage by protocol: the number of situations met up to the end of each campaign.

    None marks a campaign that did not run the protocol.
    """
    by_subject: dict[str, dict[str, int]] = {}
    for each in history.growth:
        by_subject.setdefault(str(each.subject), {})[each.campaign.directory] = each.so_far
    return {
        subject: [so_far.get(campaign.directory) for campaign in history.campaigns]
        for subject, so_far in by_subject.items()
    }
