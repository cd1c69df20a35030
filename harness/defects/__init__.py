"""The broken set: protocols that are wrong in one rule, to measure what finds them.

The model has no switch for any of them. Each is a function that takes the place of a rule in the protocols that have
its number, see defect.py and model/program.py: what runs protocols runs these as any other, interpreted or compiled,
and one compilation has all of them in it.
"""

from epochfuzz.harness.defects import (
    acknowledgement,
    alter_partition,
    clients,
    controllers,
    eligible_leaders,
    epoch_cache,
    incarnations,
    judging,
    late_answers,
    leadership,
    membership,
    partition_epoch,
    recovery,
    registration,
    replication,
    transactions,
    truncation,
    truncation_on_fetch,
)
from epochfuzz.harness.defects.defect import Defect, declared_in

PROTOCOL_DEFECTS: tuple[Defect, ...] = declared_in(
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
)
DEFECTS: tuple[Defect, ...] = (*PROTOCOL_DEFECTS, *declared_in(judging))

for _number, _defect in enumerate(DEFECTS, start=1):
    _defect.plant(_number)
