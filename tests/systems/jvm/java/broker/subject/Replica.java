package subject;

import java.util.List;
import java.util.Set;

/**
 * The observable state of a broker's replica.
 *
 * @param log the records by offset
 * @param epochs epoch and start offset of each entry of the leader epoch cache; null if the release has no cache
 * @param leader the leader that this broker knows, or {@link Decision#NOBODY}
 * @param isr the ISR that this leader knows; null for a follower
 * @param truncating whether the follower does not know yet where to truncate its log
 */
record Replica(
        long leo,
        long hw,
        List<Entry> log,
        List<List<Long>> epochs,
        int leader,
        int leaderEpoch,
        Set<Integer> isr,
        boolean truncating) {

    /**
     * A record: its number in the order of production, and the leader epoch in which it was written.
     *
     * <p>Old record formats have no leader epoch, so the value of the record contains it.
     */
    record Entry(int number, int epoch) {
        /** Returns the value of the record in the log. All values have the same length. */
        String text() {
            return String.format("m%02d@%02d", number, epoch);
        }

        static Entry of(String text) {
            return new Entry(Integer.parseInt(text.substring(1, 3)), Integer.parseInt(text.substring(4)));
        }

        Entry withEpoch(int other) {
            return new Entry(number, other);
        }
    }
}
