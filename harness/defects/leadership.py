"""Mistakes of a replica that learns a decision: what it forgets, what it keeps, and what it takes for granted."""

from epochfuzz.harness.defects.defect import Defect

DEFECTS = (
    Defect(
        "followers-remembered-across-epochs",
        "a leader goes on from what it knew of its followers when it led before",
        "leadership",
        "        p.remote_leo[r, follower] = NONE\n",
        "        p.remote_leo[r, follower] = p.remote_leo[r, follower]\n",
    ),
    Defect(
        "answer-outlives-its-epoch",
        "an answer of the former leader is applied after the follower learned of a new one",
        "leadership",
        "    replication.discard_answer(p, r)\n",
        "",
    ),
    Defect(
        "new-leader-counts-itself-only",
        "a new leader starts with an ISR of itself, though the controller named more members",
        "leadership",
        "    p.isr[r] = p.decided_isr[epoch]\n",
        "    p.isr[r] = 1 << r\n",
    ),
    Defect(
        "new-leader-commits-its-log",
        "a new leader takes all that it has as committed",
        "leadership",
        "    p.epoch_start[r] = p.leo[r]\n",
        "    p.epoch_start[r] = p.leo[r]\n    p.high_watermark[r] = p.leo[r]\n",
    ),
    Defect(
        "new-leader-drops-the-uncommitted",
        "a new leader cuts its log to its high watermark",
        "leadership",
        "    p.isr[r] = p.decided_isr[epoch]\n",
        "    p.isr[r] = p.decided_isr[epoch]\n    truncation.cut(p, r, p.high_watermark[r])\n",
    ),
    Defect(
        "epoch-starts-at-high-watermark",
        "a leader takes its high watermark, not its log end offset, for the start of its epoch",
        "leadership",
        "    p.epoch_start[r] = p.leo[r]\n",
        "    p.epoch_start[r] = p.high_watermark[r]\n",
    ),
    Defect(
        "leader-again-goes-on-as-it-was",
        "a leader that is elected again does not start its new epoch, and waits for nobody",
        "leadership",
        "    if leader == r:\n",
        "    if leader == r and previous_leader == r:\n        pass\n    elif leader == r:\n",
    ),
    Defect(
        "skipped-epochs-not-truncated",
        "a follower that skips decisions goes on fetching where it was",
        "leadership",
        "truncation.is_due(p, leader != previous_leader, epoch_missed):",
        "not epoch_missed and truncation.is_due(p, leader != previous_leader, epoch_missed):",
    ),
    Defect(
        "follower-of-nobody-goes-on",
        "a replica that learns that there is no leader goes on following the former one",
        "leadership",
        "    p.known_leader[r] = leader\n",
        "    p.known_leader[r] = previous_leader if leader == NONE and previous_leader != r else leader\n",
    ),
)
