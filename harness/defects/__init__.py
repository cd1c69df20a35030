"""The broken set: protocols that are wrong in one rule, to measure what finds them.

The model has no switch for any of them. planted.py makes a copy of the model in which each is a choice of mechanism,
so the model stays readable and the defects stay honest: a rule that has been rewritten since refuses its defect.
"""

from epochfuzz.harness.defects import (
    acknowledgement,
    epoch_cache,
    judging,
    leadership,
    membership,
    recovery,
    replication,
    truncation,
)
from epochfuzz.harness.defects.defect import Defect

PROTOCOL_DEFECTS: tuple[Defect, ...] = (
    *replication.DEFECTS,
    *acknowledgement.DEFECTS,
    *truncation.DEFECTS,
    *epoch_cache.DEFECTS,
    *membership.DEFECTS,
    *leadership.DEFECTS,
    *recovery.DEFECTS,
)
DEFECTS: tuple[Defect, ...] = (*PROTOCOL_DEFECTS, *judging.DEFECTS)
