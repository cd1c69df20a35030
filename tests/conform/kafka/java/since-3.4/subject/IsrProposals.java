package subject;

import java.util.Set;
import kafka.cluster.Partition;
import kafka.cluster.PendingPartitionChange;
import kafka.cluster.Replica;

/** What a leader proposes as the ISR. */
final class IsrProposals {
    private IsrProposals() { }

    /** It proposes to remove a follower alone: the others are taken for caught up a moment ago, or all that lag would go. */
    static void shrink(Partition partition, int follower, Set<Integer> isr, long leaderLogEnd, long now) {
        for (Replica other : Scala.list(partition.remoteReplicas())) {
            if (other.brokerId() != follower && isr.contains(other.brokerId())) {
                other.resetReplicaState(now, leaderLogEnd, false, true);
            }
        }
        partition.maybeShrinkIsr();
    }

    /** The one that it waits for; empty for none. */
    static Set<Integer> pending(Partition partition) {
        return partition.partitionState() instanceof PendingPartitionChange change
                ? Scala.ints(change.sentLeaderAndIsr().isr()) : Set.of();
    }
}
