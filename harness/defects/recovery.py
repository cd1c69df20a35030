"""Mistakes in recovery: what a replica writes down, and what it wakes up with."""

from epochfuzz.harness.defects.defect import Defect

DEFECTS = (
    Defect(
        "recovers-with-log-end-as-high-watermark",
        "a replica that restarts takes all that is in its log as committed",
        "faults",
        "    p.up[r] = 1\n",
        "    p.up[r] = 1\n    p.high_watermark[r] = p.leo[r]\n",
    ),
    Defect(
        "recovers-with-checkpoint-beyond-its-log",
        "a replica takes the checkpointed high watermark though its log is shorter",
        "faults",
        "p.high_watermark[r] = min(p.checkpointed[r], p.leo[r])",
        "p.high_watermark[r] = p.checkpointed[r]",
    ),
    Defect(
        "checkpoint-lost",
        "a replica restarts without its high watermark checkpoint",
        "faults",
        "    p.up[r] = 1\n",
        "    p.up[r] = 1\n    p.high_watermark[r] = 0\n",
        jira="KAFKA-1647",
    ),
    Defect(
        "checkpoint-of-the-log-end",
        "a replica checkpoints its log end offset as its high watermark",
        "faults",
        "    p.checkpointed[r] = p.high_watermark[r]\n",
        "    p.checkpointed[r] = p.leo[r]\n",
    ),
    Defect(
        "recovery-cuts-to-high-watermark",
        "a replica that restarts cuts its log to its high watermark before it knows its leader",
        "faults",
        "    p.up[r] = 1\n",
        "    p.up[r] = 1\n    truncation.cut(p, r, p.high_watermark[r])\n",
    ),
    Defect(
        "recovery-rebuilds-no-epochs",
        "a replica that restarts has lost its epoch cache",
        "faults",
        "    p.up[r] = 1\n",
        "    p.up[r] = 1\n    truncation.epoch_cache.truncate_from_end(p, r, 0)\n",
    ),
    Defect(
        "power-loss-spares-the-high-watermark",
        "a log cut short by a power failure keeps its high watermark",
        "faults",
        "    truncation.cut(p, r, p.flushed[r])\n",
        "    truncation.log.truncate(p, r, p.flushed[r])\n",
    ),
    Defect(
        "restarted-follower-goes-on-fetching",
        "a replica that restarts remembers its leader, and does not truncate if it is still the same",
        "faults",
        "    p.known_epoch[r] = p.controller_epoch - 1\n",
        "    leader = p.decided_leader[p.controller_epoch]\n"
        "    follows = leader != NONE and leader != r\n"
        "    p.known_epoch[r] = p.controller_epoch if follows else p.controller_epoch - 1\n"
        "    p.known_leader[r] = leader if follows else NONE\n",
    ),
)
