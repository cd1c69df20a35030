"""Print the results of random schedules on Kafka clusters, as text and as JSON."""

from typing import TYPE_CHECKING

from rich.console import Console

from epochfuzz.harness.campaign.clusters.cluster_job import ClusterOutcome
from epochfuzz.harness.campaign.clusters.plays import kind
from epochfuzz.harness.cli.output import Exit, print_json
from epochfuzz.harness.cluster.schedules.fuzzed import DRAWN_FOR_ONE, ClusterFinding, describe
from epochfuzz.harness.views import cluster_links, play_links
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.documents import evidence, walks


def end_clusters(out: Console, outcome: ClusterOutcome, directory: str, facts: "walks.Facts", json: bool) -> int:
    """Print the results of a campaign on Kafka clusters. Returns the exit code.

    The exit code is BROKEN if the schedule of a finding ends on Kafka with another result than in the model.
    """
    asked, fuzzed = outcome.parameters, outcome.fuzzed
    protocol, settings = asked.parsed_protocol, asked.settings
    out.print(f"Kafka {asked.release}, in the model {asked.protocol}", markup=False)
    documents = [finding_json(finding, protocol, settings) for finding in fuzzed.findings]
    for finding, document, seen in zip(fuzzed.findings, documents, outcome.seen, strict=True):
        for line in (
            f"\n{kind(finding.ended, finding.model)}: seen in {seen} schedules. Schedule {finding.number},"
            f" shrunk from {finding.shrunk_from} to {len(finding.events)} events:",
            f"  {'; '.join(schedule_texts(finding.events))}",
            f"  {finding.why}",
        ):
            out.print(line, markup=False, soft_wrap=True)
        play_links.show(out, document["play"])
    again = (
        f"epochfuzz campaign run --out DIR --engine cluster --release {asked.release} --replicas {asked.replicas}"
        f" --schedules {fuzzed.drawn // DRAWN_FOR_ONE} --seed {asked.seed}"
    )
    out.print(f"{describe(fuzzed)}\nreproduce: {again}", markup=False, soft_wrap=True)
    if json:
        campaign: evidence.ClusterCampaign = {
            "directory": directory,
            **facts,
            "release": asked.release,
            "protocol": asked.protocol,
            "seed": asked.seed,
            "configuration": settings.changed(),
            **fuzzed.numbers(),
            "findings": [{**each, "seen": seen} for each, seen in zip(documents, outcome.seen, strict=True)],
            "reproduce": again,
        }
        print_json(campaign)
    is_as_modelled = all(finding.ended is finding.model for finding in fuzzed.findings)
    return Exit.AS_EXPECTED if is_as_modelled else Exit.BROKEN


def finding_json(finding: ClusterFinding, protocol: Protocol, settings: Configuration) -> "evidence.FuzzedFinding":
    """Return the JSON form of a finding. `protocol` models the release of the cluster."""
    return {**finding.plain(), "play": cluster_links.to_finding(finding, protocol, settings)}
