package subject;

import java.util.Set;
import java.util.function.Supplier;
import kafka.cluster.Partition;

/** A leader's proposed ISR. Up to 2.6, a leader writes the ISR to ZooKeeper and adopts it at once. */
final class IsrProposals {
    private IsrProposals() { }

    /** Runs work in which the leader may propose an ISR. The gate rejects the proposal, which has no other effect. */
    static <T> T without(Partition partition, Supplier<T> work) {
        return work.get();
    }

    /** Returns the pending ISR of the leader; empty if there is none. */
    static Set<Integer> pending(Partition partition) {
        return Set.of();
    }
}
