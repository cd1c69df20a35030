"""Prove that no shorter schedule shows a bug, if the protocol has the bug of the system under test, too.

The proof searches the model. For a bug that only the system under test has, a proof would have to run the adapter
millions of times.
"""

from collections.abc import Sequence

from epochfuzz.harness.conform.protocol.discrepancy import DiscrepancyKind
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
from epochfuzz.harness.engine.explore.certificates import Claim, Reproducer, compile_search, prove_all
from epochfuzz.harness.engine.runtime.deadline import Deadline
from epochfuzz.harness.engine.runtime.interruption import Interruption
from epochfuzz.harness.engine.shrink.shrink import breaking_prefix
from epochfuzz.harness.findings.findings import CERTIFICATE_MEMORY
from epochfuzz.model.kafka.contract import properties


def proofs(
    nonconformities: Sequence[ConformanceFinding], seconds: float | None, interruption: Interruption | None = None
) -> list[Reproducer | None]:
    """Search the model for shorter schedules of findings. Returns a proof or None for each finding.

    A proof states the length below which no schedule shows the bug. The list has None for a finding if the protocol
    does not have the bug of the finding. `seconds` is the time limit for all proofs together (None: no limit).
    """
    claims = [_claim(each) for each in nonconformities]
    made = [claim for claim in claims if claim is not None]
    if made and seconds != 0:
        compile_search(made[0].protocol, made[0].settings)
        deadline = Deadline(seconds, interruption)
        for settings in dict.fromkeys(claim.settings for claim in made):
            of_settings = [claim for claim in made if claim.settings == settings]
            prove_all(of_settings, deadline, CERTIFICATE_MEMORY)
    return [None if claim is None else claim.reproducer for claim in claims]


def _claim(nonconformity: ConformanceFinding) -> Claim | None:
    fault, sent, settings = nonconformity.fault, nonconformity.sighting.sent, nonconformity.trial.settings
    if nonconformity.known_flaw is None or fault.kind is not DiscrepancyKind.PROMISE or fault.field is None:
        return None
    wanted = properties.named(fault.field).bit
    if breaking_prefix(sent, nonconformity.protocol, settings, wanted) != sent:
        return None
    return Claim(nonconformity.protocol, settings, wanted, sent)
