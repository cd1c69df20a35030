package subject;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** A broker of some system's release, up, with its replica of the partition: what each release's own classes are made to do. */
interface Broker {
    /**
     * A decision arrives. ZooKeeper's controller sends a state, whereas KRaft's writes a log, of which these records lead
     * up to the decision from where the broker was. It applies them at once, however many there are.
     */
    void learn(Decision decision, List<Object> records);

    /** Records arrive that are not about the partition. */
    default void note(List<Object> records) { }

    /** A client's record arrives. False: it was refused, by NOT_ENOUGH_REPLICAS or for not being leader. */
    boolean append(int record, boolean acksAll);

    /**
     * A record of an idempotent producer with acks=all arrives. {@code answered} gets the answer: at once if the broker
     * refuses the record, else when all of the ISR have it, or when the broker waits for that no more. False: refused.
     */
    default boolean append(Sent sent, Consumer<Reply> answered) {
        throw new UnsupportedOperationException();
    }

    /** Whether its log would reject a record as out of sequence. The log stays as it is. */
    default boolean rejects(Sent sent) {
        throw new UnsupportedOperationException();
    }

    /** The records whose producers it has told that they are stored, where it is known (Release.answersProducers). */
    default Set<Integer> acknowledged() {
        return Set.of();
    }

    /** The fetcher thread towards a leader; null if there never was one. */
    Fetcher fetcher(int leader);

    /**
     * As a leader, or as none any more, answers a follower's request: at once, or when a fetch no longer waits for
     * records. Running what is returned ends the time of that wait.
     */
    Runnable serve(Object request, Consumer<Answer> answered);

    /** As a leader, looks for replicas that lag and proposes to the gate that they leave the ISR. */
    void proposeShrink(int follower);

    /** As a leader, looks once more at what it knows of a follower, and proposes to the gate that it joins the ISR. */
    void proposeExpand(int follower);

    /** As a leader, the ISR that it has proposed and waits for (KIP-497); empty for none. */
    default Set<Integer> pendingIsr() {
        return Set.of();
    }

    /** As a leader, the end of a follower's log as far as it knows; negative if it does not. */
    long remoteLeo(int follower);

    /** What was left to the background is done; since KAFKA-16541 the leader epoch cache is written there after a truncation. */
    default void finishScheduled() { }

    /** Writes the high watermark to disk. */
    void checkpoint();

    /** Forces the log to disk. */
    void flush();

    /** The first offset of its log whose record is not deleted; negative if it can delete none. */
    default long logStart() {
        return -1;
    }

    /** Deletes the records below an offset. False: the offset is beyond its high watermark, or it does not know that yet. */
    default boolean deleteBelow(long offset) {
        throw new UnsupportedOperationException();
    }

    /** Writes the log start to disk. */
    default void checkpointLogStart() { }

    /** Frees what memory and the operating system hold of a broker whose process is gone. */
    void abandon();

    /** What can be seen of its replica. */
    Replica replica();
}
