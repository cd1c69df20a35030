"""The mutants: protocols with one wrong rule. They show whether epochfuzz detects the mistake in the rule.

The model contains no switch for a mutant. A mutant has a number and a function. In protocols with this number, the
function replaces a rule of the model (mutant.py and model/core/specializer.py). The engine runs these protocols like
any other protocol, interpreted or compiled. A single compilation contains all mutants.
"""

from epochfuzz.harness.lab.mutants.clients import acknowledgement, clients, wrong_groups
from epochfuzz.harness.lab.mutants.clients import wrong_late_requests as late_requests
from epochfuzz.harness.lab.mutants.clients import wrong_transactions as transactions
from epochfuzz.harness.lab.mutants.contract import judging
from epochfuzz.harness.lab.mutants.controller import controllers
from epochfuzz.harness.lab.mutants.controller import wrong_eligible_leaders as eligible_leaders
from epochfuzz.harness.lab.mutants.controller import wrong_incarnations as incarnations
from epochfuzz.harness.lab.mutants.controller import wrong_registration as registration
from epochfuzz.harness.lab.mutants.mutant import Mutant, declared_in
from epochfuzz.harness.lab.mutants.partition import late_answers, membership, recovery, waiting
from epochfuzz.harness.lab.mutants.partition import wrong_alter_partition as alter_partition
from epochfuzz.harness.lab.mutants.partition import wrong_leadership as leadership
from epochfuzz.harness.lab.mutants.partition import wrong_partition_epoch as partition_epoch
from epochfuzz.harness.lab.mutants.partition import wrong_replication as replication
from epochfuzz.harness.lab.mutants.partition import wrong_truncation as truncation
from epochfuzz.harness.lab.mutants.partition import wrong_truncation_on_fetch as truncation_on_fetch
from epochfuzz.harness.lab.mutants.storage import wrong_epoch_cache as epoch_cache
from epochfuzz.harness.lab.mutants.storage import wrong_log_start as log_start

PROTOCOL_DEFECTS: tuple[Mutant, ...] = declared_in(
    replication,
    acknowledgement,
    truncation,
    epoch_cache,
    membership,
    leadership,
    recovery,
    truncation_on_fetch,
    late_answers,
    alter_partition,
    partition_epoch,
    incarnations,
    registration,
    eligible_leaders,
    clients,
    controllers,
    transactions,
    waiting,
    wrong_groups,
    late_requests,
    log_start,
)
DEFECTS: tuple[Mutant, ...] = (*PROTOCOL_DEFECTS, *declared_in(judging))

for _number, _defect in enumerate(DEFECTS, start=1):
    _defect.plant(_number)
