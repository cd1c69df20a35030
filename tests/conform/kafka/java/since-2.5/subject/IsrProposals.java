package subject;

import java.util.Set;
import java.util.function.Supplier;
import kafka.cluster.Partition;

/** What a leader proposes as the ISR: up to 2.6 it writes it to ZooKeeper and has it at once. */
final class IsrProposals {
    private IsrProposals() { }

    /** Does work in which a leader may propose another ISR: the gate refuses it, and nothing else comes of it. */
    static <T> T without(Partition partition, Supplier<T> work) {
        return work.get();
    }

    /** The ISR that the leader waits for; empty for none. */
    static Set<Integer> pending(Partition partition) {
        return Set.of();
    }
}
