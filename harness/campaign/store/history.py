"""Compare several campaigns in order of time: all findings, new findings, and the growth of coverage.

Two findings are equal if their protocol, property and configuration are equal. The bounds of the configuration don't
count, because a campaign with larger bounds only searches further for the same findings.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epochfuzz.harness.campaign.run.status import CampaignStatus, status_json
from epochfuzz.harness.cases.comparison import without_bounds
from epochfuzz.harness.documents.records import CampaignFinding
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from epochfuzz.harness.documents import walks


@dataclass(frozen=True, order=True)
class ComparisonKey:
    """A protocol and a configuration as text. Results of several campaigns are compared if their keys are equal."""

    protocol: str
    configuration: str

    def __str__(self) -> str:
        return f"{self.protocol} with {self.configuration}" if self.configuration else self.protocol


@dataclass(frozen=True)
class FindingHistory:
    """The history of one finding: property `name`, broken under the protocol and configuration `subject`.

    `found` has a pair for each campaign that ran the protocol with this configuration: the campaign and its finding, or
    None in place of the finding if the property did not break.
    """

    subject: ComparisonKey
    name: str
    found: tuple[tuple[CampaignStatus, CampaignFinding | None], ...]

    @property
    def seen(self) -> list[tuple[CampaignStatus, CampaignFinding]]:
        """The campaigns that have the finding, each with its finding."""
        return [(campaign, found) for campaign, found in self.found if found is not None]

    @property
    def known_flaw(self) -> str | None:
        """The known bug that explains the finding, from the last campaign that has the finding.

        None if no known bug explains it.
        """
        return self.seen[-1][1].known_flaw

    @property
    def shortest(self) -> CampaignFinding:
        """The finding with the fewest events, over all campaigns. If lengths are equal, shrunk findings come first."""
        return min((found for _, found in self.seen), key=lambda found: (found.length, not found.is_shrunk))


@dataclass(frozen=True)
class Growth:
    """The growth of coverage in one campaign under one protocol, in numbers of situations.

    `met` counts the situations that the campaign met. `new` counts the situations that no earlier campaign met.
    `so_far` counts the situations that this campaign and all earlier ones met together. A situation is a kind of state
    and event (walks/coverage.py).
    """

    campaign: CampaignStatus
    subject: ComparisonKey
    met: int
    new: int
    so_far: int


@dataclass(frozen=True)
class History:
    """Several campaigns, oldest first, with the histories of their findings and the growth of coverage."""

    campaigns: tuple[CampaignStatus, ...]
    lines: tuple[FindingHistory, ...]
    growth: tuple[Growth, ...]

    @property
    def new(self) -> list[FindingHistory]:
        """The findings that only the last campaign has."""
        return [line for line in self.lines if [campaign for campaign, _ in line.seen] == [self.campaigns[-1]]]

    @property
    def no_longer_seen(self) -> list[FindingHistory]:
        """The findings that the last campaign does not have, although it ran the protocol."""
        last = self.campaigns[-1]
        return [line for line in self.lines if line.found[-1] == (last, None)]


def history(campaigns: Iterable[CampaignStatus]) -> History:
    """Return the history of campaigns, given in any order."""
    in_order = tuple(sorted(campaigns, key=lambda campaign: campaign.begun))
    return History(in_order, tuple(_lines(in_order)), tuple(_growth(in_order)))


def subjects(campaign: CampaignStatus) -> list[ComparisonKey]:
    """Return a key for each protocol of a campaign, with the configuration of the campaign."""
    return [ComparisonKey(name, configuration_text(campaign.work.settings)) for name in campaign.work.names]


def configuration_text(settings: Configuration) -> str:
    """Return a configuration as text: `replicas`, and all settings that are not at their defaults. Omits the bounds."""
    return " ".join(f"{key}={value}" for key, value in without_bounds(settings).items())


def _lines(campaigns: Sequence[CampaignStatus]) -> list[FindingHistory]:
    found: dict[tuple[ComparisonKey, str], dict[int, CampaignFinding]] = {}
    for number, campaign in enumerate(campaigns):
        for each in campaign.so_far.found:
            subject = ComparisonKey(each.protocol, configuration_text(campaign.work.settings))
            found.setdefault((subject, each.property), {})[number] = each
    return [
        FindingHistory(
            subject,
            name,
            tuple((campaign, by.get(i)) for i, campaign in enumerate(campaigns) if subject in subjects(campaign)),
        )
        for (subject, name), by in found.items()
    ]


def _growth(campaigns: Sequence[CampaignStatus]) -> list[Growth]:
    so_far: dict[ComparisonKey, set[int]] = {}
    grown = []
    for campaign in campaigns:
        for subject in subjects(campaign):
            met = campaign.so_far.met.get(subject.protocol)
            if met is not None:
                known = so_far.setdefault(subject, set())
                new = len(met - known)
                known |= met
                grown.append(Growth(campaign, subject, len(met), new, len(known)))
    return grown


def history_json(history: History) -> "walks.History":
    """Return the JSON document of a history."""
    return {
        "campaigns": [status_json(campaign) for campaign in history.campaigns],
        "findings": [_line_json(line) for line in history.lines],
        "new": [_name_json(line) for line in history.new],
        "no_longer_seen": [_name_json(line) for line in history.no_longer_seen],
        "coverage": [
            {
                "directory": each.campaign.directory,
                "protocol": each.subject.protocol,
                "configuration": each.subject.configuration,
                "situations": each.met,
                "new": each.new,
                "so_far": each.so_far,
            }
            for each in history.growth
        ],
    }


def _name_json(line: FindingHistory) -> "walks.Line":
    return {
        "protocol": line.subject.protocol,
        "configuration": line.subject.configuration,
        "property": line.name,
    }


def _line_json(line: FindingHistory) -> "walks.Seen":
    first, last = line.seen[0][0], line.seen[-1][0]
    return {
        **_name_json(line),
        "known_flaw": line.known_flaw,
        "first_seen": _when_json(first),
        "last_seen": _when_json(last),
        "campaigns": len(line.seen),
        "looked": len(line.found),
        "length": line.shortest.length,
        "is_shrunk": line.shortest.is_shrunk,
    }


def _when_json(campaign: CampaignStatus) -> "walks.When":
    return {
        "directory": campaign.directory,
        "begun": campaign.begun.isoformat(),
        "version": campaign.work.version,
        "model": campaign.work.model,
        "seed": campaign.work.seed,
    }
