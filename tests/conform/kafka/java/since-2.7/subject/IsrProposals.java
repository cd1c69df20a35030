package subject;

import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import kafka.cluster.IsrState;
import kafka.cluster.Partition;
import kafka.cluster.PendingShrinkIsr;

/** What a leader proposes as the ISR. */
final class IsrProposals {
    private IsrProposals() { }

    /**
     * Does work in which a leader may propose another ISR, and keeps it from that. What it proposes it waits for, come
     * what may (Partition.sendAlterIsrRequest of 2.7), so it has to take a request for being under way already.
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

    /** The ISR that the leader waits for; empty for none. */
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
