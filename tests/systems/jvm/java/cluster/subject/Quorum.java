package subject;

import java.util.List;

/**
 * The controller's state besides its decisions. A ZooKeeper controller has none, so this class keeps nothing. The
 * adapters for KRaft (since-3.4) have another class Quorum.
 */
final class Quorum {
    Quorum(Release release, Settings settings, Rules rules, long[] brokerEpochs, FakeTime time) { }

    boolean isKafkas() {
        return false;
    }

    /** Returns the decision that makes {@code leader} (or nobody) the leader with this ISR; null if nothing changes. */
    Decision change(Decision before, int leader, List<Integer> isr, boolean newEpoch, boolean unclean) {
        return new Decision(before.epoch() + (newEpoch ? 1 : 0), leader, isr.isEmpty() ? before.isr() : isr,
                before.version() + 1);
    }

    /** Returns the decision with the ISR that the leader has written. */
    Decision write(Decision before, List<Integer> isr) {
        return before.withIsr(isr, before.version() + 1);
    }

    Verdict alter(Proposal proposal) {
        throw new UnsupportedOperationException("this controller handles no AlterPartition requests");
    }

    List<Integer> elr() {
        return List.of();
    }

    int lastKnownLeader() {
        return Decision.NOBODY;
    }

    boolean keepsLastMember() {
        return true;
    }

    Decision register(int broker, boolean clean, boolean fenced) {
        return null;
    }

    void fence(int broker, boolean shuttingDown) { }

    void unfence(int broker) { }

    int size() {
        return 0;
    }

    List<Object> records(int from, int to) {
        return List.of();
    }

    List<Object> registrations() {
        return List.of();
    }
}
