"""Mistakes in membership: who is in the ISR, who is elected, and who is told."""

from epochfuzz.harness.defects.defect import Defect

DEFECTS = (
    Defect(
        "isr-joined-at-once",
        "a follower joins the ISR with its first fetch, however far behind",
        "isr",
        "    if p.remote_leo[leader, r] == NONE or p.remote_leo[leader, r] < p.high_watermark[leader]:\n"
        "        return False\n"
        "    return p.isr_expansion != EXPAND_AT_EPOCH_START or p.remote_leo[leader, r] >= p.epoch_start[leader]\n",
        "    return p.remote_leo[leader, r] != NONE\n",
    ),
    Defect(
        "isr-joined-at-epoch-start",
        "a follower joins the ISR once it has what its leader began with, though more was committed since",
        "isr",
        "p.remote_leo[leader, r] == NONE or p.remote_leo[leader, r] < p.high_watermark[leader]",
        "p.remote_leo[leader, r] == NONE",
    ),
    Defect(
        "isr-joined-at-high-watermark",
        "a follower joins the ISR at a high watermark that the new leader has not learned yet",
        "isr",
        "return p.isr_expansion != EXPAND_AT_EPOCH_START or p.remote_leo[leader, r] >= p.epoch_start[leader]",
        "return True",
        jira="KAFKA-7128",
    ),
    Defect(
        "isr-joined-unseen",
        "a follower joins the ISR of a leader that it has not fetched from",
        "isr",
        "    if p.remote_leo[leader, r] == NONE or p.remote_leo[leader, r] < p.high_watermark[leader]:\n"
        "        return False\n",
        "    if p.remote_leo[leader, r] < p.high_watermark[leader]:\n        return False\n",
    ),
    Defect(
        "isr-joined-by-another-leaders-follower",
        "a replica joins the ISR though it has not learned of the leader",
        "isr",
        "    if p.known_leader[r] != leader or p.phase[r] != FETCHING:\n        return False\n",
        "    if p.phase[r] != FETCHING:\n        return False\n",
    ),
    Defect(
        "isr-joined-while-truncating",
        "a follower joins the ISR before it has truncated",
        "isr",
        "p.known_leader[r] != leader or p.phase[r] != FETCHING:",
        "p.known_leader[r] != leader:",
    ),
    Defect(
        "isr-joined-in-another-epoch",
        "a follower joins the ISR though it still follows the leader in an earlier epoch",
        "isr",
        "p.known_epoch[r] != p.known_epoch[leader]:",
        "False:",
    ),
    Defect(
        "isr-expanded-by-zombie",
        "a leader adds to the ISR though the controller has moved on",
        "isr",
        '"""The true leader sees r fetch and caught up: r joins the ISR."""\n    leader = controller.true_leader(p)\n'
        "    if leader == NONE or leader == r or p.isr[leader] >> r & 1:\n",
        "leader = p.known_leader[r]\n"
        "    if leader == NONE or leader == r or p.known_leader[leader] != leader or p.isr[leader] >> r & 1:\n",
    ),
    Defect(
        "isr-shrunk-by-zombie",
        "a leader takes a member out of the ISR though the controller has moved on",
        "isr",
        "    leader = controller.true_leader(p)\n    if leader == NONE or leader == r or not p.isr[leader] >> r & 1:\n",
        "    leader = NONE\n"
        "    for zombie in range(p.replicas):\n"
        "        if zombie != r and p.known_leader[zombie] == zombie and p.isr[zombie] >> r & 1:\n"
        "            leader = zombie\n"
        "    if leader == NONE:\n",
    ),
    Defect(
        "isr-shrunk-before-it-is-decided",
        "a leader stops waiting for a member before the controller knows that it left the ISR",
        "isr",
        "    change(p, leader, p.isr[leader] & ~(1 << r))\n",
        "    p.isr[leader] &= ~(1 << r)\n",
    ),
    Defect(
        "isr-grown-after-it-is-decided",
        "a replica is in the controller's ISR before its leader waits for it",
        "isr",
        "    change(p, leader, p.isr[leader] | 1 << r)\n",
        "    p.decided_isr[p.controller_epoch] |= 1 << r\n",
    ),
    Defect(
        "elected-outside-isr",
        "the controller elects any live replica",
        "controller",
        "    if members >> r & 1:\n        decide(p, r, members)\n",
        "    if p.up[r]:\n        decide(p, r, members | 1 << r)\n",
    ),
    Defect(
        "preferred-replica-elected-outside-isr",
        "the controller gives leadership back to the preferred replica, in the ISR or not",
        "controller",
        "    if members >> r & 1:\n        decide(p, r, members)\n",
        "    if members >> r & 1 or r == 0:\n        decide(p, r, members | 1 << r)\n",
    ),
    Defect(
        "unclean-election-unasked",
        "the controller elects outside the ISR where no member is up, though the setting forbids it",
        "controller",
        "if p.unclean_leader_election and not any_up(p, members):",
        "if not any_up(p, members):",
    ),
    Defect(
        "election-makes-everyone-in-sync",
        "an election resets the ISR to all replicas",
        "controller",
        "    if members >> r & 1:\n        decide(p, r, members)\n",
        "    if members >> r & 1:\n        decide(p, r, (1 << p.replicas) - 1)\n",
    ),
    Defect(
        "unclean-leader-keeps-the-old-isr",
        "after an unclean election the former members of the ISR are still in it",
        "controller",
        "decide(p, r, 1 << r)",
        "decide(p, r, members | 1 << r)",
    ),
    Defect(
        "empty-isr-means-everyone",
        "an ISR whose last member expires becomes that of a new partition, all replicas",
        "controller",
        "    decide(p, NONE if leads else leader(p), remaining if leaves else members)\n",
        "    decide(p, NONE if leads else leader(p), remaining if remaining else (1 << p.replicas) - 1)\n",
    ),
    Defect(
        "expired-leader-stays-in-sync",
        "a leader whose session expires stays in the ISR",
        "controller",
        "    decide(p, NONE if leads else leader(p), remaining if leaves else members)\n",
        "    decide(p, NONE if leads else leader(p), members if leads else remaining)\n",
    ),
    Defect(
        "elected-in-the-same-epoch",
        "an election after a leader expired does not open a new epoch",
        "controller",
        "    if members >> r & 1:\n        decide(p, r, members)\n",
        "    if members >> r & 1:\n"
        "        if leader(p) == NONE:\n"
        "            p.controller_epoch -= 1\n"
        "        decide(p, r, members)\n",
    ),
)
