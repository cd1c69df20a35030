"""Link schedules that ran on real clusters to the same schedules in `play`."""

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cluster.schedules.ends import broken_at
from epochfuzz.harness.cluster.schedules.fuzzed import ClusterFinding
from epochfuzz.harness.documents.cluster_records import Ended
from epochfuzz.harness.links.play_link import play_link
from epochfuzz.harness.trace.replay import replay
from epochfuzz.harness.views import play_links
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


def to_finding(finding: ClusterFinding, protocol: Protocol, settings: Configuration) -> str | None:
    """Return a link that opens the schedule of a finding on a real cluster in `epochfuzz play`.

    Returns None if the schedule is too long for a link. `protocol` models the release of the cluster. The link opens
    the step at which the model breaks a property that the cluster broke. If the model breaks no such property, the link
    opens the last step.
    """
    step = _shown_at(finding.events, protocol, settings, finding.ended)
    return play_link([protocol], settings, finding.events, step)


def to_loss(case: Case, protocol: Protocol) -> str | None:
    """Return the address, in `play`, of the step of a case that loses a record under a protocol.

    If no step loses a record, the address leads to the last step. Returns None if the case is too long for `play`.
    """
    return play_links.to_case(case, [protocol.name], _shown_at(case.events, protocol, case.settings, Ended.LOST))


def _shown_at(events: bytes, protocol: Protocol, settings: Configuration, ended: Ended) -> int:
    step = broken_at(replay(events, protocol, settings), ended)
    return len(events) if step is None else step
