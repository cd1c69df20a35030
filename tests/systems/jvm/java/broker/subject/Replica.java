package subject;

import java.util.List;
import java.util.Set;

/**
 * What can be seen of a broker's replica.
 *
 * @param log the records by offset
 * @param epochs epoch and start offset of each entry of the leader epoch cache; null where the release has none
 * @param leader the broker that it takes for the leader, {@link Decision#NOBODY} if it knows none
 * @param isr its own idea of the ISR, of a leader only
 * @param truncating whether it has yet to find out where to truncate its log
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
     * A record, by its number in the order of production, and the leader epoch that was written with it.
     *
     * <p>Old formats have no epoch, so the value of a record has it as well.
     */
    record Entry(int number, int epoch) {
        /** The value of the record in the log; all values have one length. */
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
