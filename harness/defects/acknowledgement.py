"""Mistakes in acknowledgement: the producer is answered before its record is safe."""

from epochfuzz.harness.defects.defect import Defect

DEFECTS = (
    Defect(
        "acks-all-answered-at-append",
        "with acks=all the producer is answered once its leader has the record",
        "promises",
        "if p.acks == ACKS_LEADER:",
        "if p.acks != 0:",
    ),
    Defect(
        "acks-all-answered-when-sent",
        "with acks=all the producer is answered once its record was sent to a follower",
        "replication",
        "    p.flight[follower] = RECORDS\n",
        "    p.flight[follower] = RECORDS\n    p.acked |= p.standing[leader]\n",
    ),
    Defect(
        "acks-all-answered-by-one-follower",
        "with acks=all the producer is answered once one follower has the record, whatever the ISR",
        "replication",
        "    p.flight[follower] = RECORDS\n",
        "    p.flight[follower] = RECORDS\n    p.acked |= p.standing[leader] & p.standing[follower]\n",
    ),
)
