package subject;

import java.util.List;
import java.util.Set;

/** A proposal that is answered at once, with the version that it made, and as it was or not at all: by ZooKeeper. */
final class Write implements Proposal {
    private final Set<Integer> isr;
    int version = -1;

    Write(Set<Integer> isr) {
        this.isr = isr;
    }

    @Override public Set<Integer> isr() {
        return isr;
    }

    @Override public void accept(List<Integer> accepted, int newVersion) {
        if (!isr.equals(Set.copyOf(accepted))) {
            throw new IllegalStateException("the leader proposed " + isr + ", and would go on with " + accepted);
        }
        version = newVersion;
    }

    @Override public void revert() { }

    @Override public void refuse() { }
}
