package subject;

import java.util.Set;

/**
 * A leader's ISR change that ZooKeeper accepts or rejects at once. If it accepts the change, {@code version} is the new
 * version, and the ISR is exactly the proposed one.
 */
final class Write implements Proposal {
    private final Set<Integer> isr;
    private final int epoch;
    private final int expected;
    int version = -1;

    Write(Set<Integer> isr, int epoch, int expected) {
        this.isr = isr;
        this.epoch = epoch;
        this.expected = expected;
    }

    @Override public int epoch() {
        return epoch;
    }

    @Override public int version() {
        return expected;
    }

    @Override public Set<Integer> isr() {
        return isr;
    }

    @Override public void accept(Decision made) {
        if (!isr.equals(Set.copyOf(made.isr()))) {
            throw new IllegalStateException("the leader proposed " + isr + ", but ZooKeeper has " + made.isr());
        }
        version = made.version();
    }

    @Override public void revert() { }

    @Override public void refuse() { }
}
