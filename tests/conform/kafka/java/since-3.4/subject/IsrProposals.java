package subject;

import java.util.Set;
import kafka.cluster.Partition;
import kafka.cluster.PendingPartitionChange;
import kafka.cluster.Replica;

/** A leader's proposed ISR. */
final class IsrProposals {
    private IsrProposals() { }

    /**
     * Makes the leader propose to remove one follower only. A leader removes all lagging followers, so this method
     * marks the others as caught up just now.
     */
    static void shrink(Partition partition, int follower, Set<Integer> isr, long leaderLogEnd, long now) {
        for (Replica other : Scala.list(partition.remoteReplicas())) {
            if (other.brokerId() != follower && isr.contains(other.brokerId())) {
                other.resetReplicaState(now, leaderLogEnd, false, true);
            }
        }
        partition.maybeShrinkIsr();
    }

    /** Returns the pending ISR of the leader; empty if there is none. */
    static Set<Integer> pending(Partition partition) {
        return partition.partitionState() instanceof PendingPartitionChange change
                ? Scala.ints(change.sentLeaderAndIsr().isr()) : Set.of();
    }
}
