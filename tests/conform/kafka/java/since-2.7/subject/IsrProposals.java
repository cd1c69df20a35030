package subject;

import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import kafka.cluster.IsrState;
import kafka.cluster.Partition;
import kafka.cluster.PendingShrinkIsr;

/** A leader's proposed ISR. */
final class IsrProposals {
    private IsrProposals() { }

    /**
     * Runs work in which the leader may propose an ISR, and prevents the proposal. A leader of 2.7 keeps every proposal
     * until it gets a response (Partition.sendAlterIsrRequest). So this method makes the leader believe that a request
     * is in flight.
     */
    static <T> T without(Partition partition, Supplier<T> work) {
        if (partition == null || partition.isrState().isInflight()) {
            return work.get();
        }
        IsrState before = partition.isrState();
        partition.isrState_$eq(new Busy(before.isr()));
        try {
            return work.get();
        } finally {
            partition.isrState_$eq(before);
        }
    }

    private record Busy(scala.collection.immutable.Set<Object> isr) implements IsrState {
        @Override public scala.collection.immutable.Set<Object> maximalIsr() {
            return isr;
        }

        @Override public boolean isInflight() {
            return true;
        }
    }

    /** Returns the pending ISR of the leader; empty if there is none. */
    static Set<Integer> pending(Partition partition) {
        IsrState state = partition.isrState();
        if (state instanceof PendingShrinkIsr shrink) {
            Set<Integer> remaining = new TreeSet<>(Scala.ints(partition.inSyncReplicaIds()));
            remaining.removeAll(Scala.ints(shrink.outOfSyncReplicaIds()));
            return remaining;
        }
        return state.isInflight() ? Scala.ints(state.maximalIsr()) : Set.of();
    }
}
