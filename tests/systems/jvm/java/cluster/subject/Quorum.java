package subject;

import java.util.List;

/** What a controller has besides its decisions: nothing. Under KRaft there is more, see since-3.4 of Kafka. */
final class Quorum {
    Quorum(Release release, Settings settings, Rules rules, long[] brokerEpochs, FakeTime time) { }

    boolean isKafkas() {
        return false;
    }

    /** The decision by which a replica leads, or nobody, with this ISR; null if there is none. */
    Decision change(Decision before, int leader, List<Integer> isr, boolean newEpoch, boolean unclean) {
        return new Decision(before.epoch() + (newEpoch ? 1 : 0), leader, isr.isEmpty() ? before.isr() : isr,
                before.version() + 1);
    }

    /** The decision with another ISR, as a leader has written it. */
    Decision write(Decision before, List<Integer> isr) {
        return before.withIsr(isr, before.version() + 1);
    }

    Verdict alter(Proposal proposal) {
        throw new UnsupportedOperationException("a request to KRaft's controller");
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
