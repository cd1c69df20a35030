package subject;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** A running broker and its replica of the partition. Each release implements this interface with its own classes. */
interface Broker {
    /**
     * Applies a leader-and-ISR update of the controller. A ZooKeeper controller sends the whole state and
     * {@code records} is empty. A KRaft controller writes a metadata log: {@code records} are the records from the
     * broker's position in that log up to the decision, and the broker applies them in one batch.
     */
    void learn(Decision decision, List<Object> records);

    /** Applies metadata records that are not about the partition. */
    default void note(List<Object> records) { }

    /**
     * Appends a producer's record. Returns false if the broker rejects it, because it is not the leader or with
     * NOT_ENOUGH_REPLICAS.
     */
    boolean append(int record, boolean acksAll);

    /**
     * Handles a record of an idempotent producer with acks=all. {@code answered} receives the response: at once if the
     * broker rejects the record, and otherwise when the ISR has the record or when the broker stops waiting for the ISR.
     * Returns false if the broker rejects the record.
     */
    default boolean append(Sent sent, Consumer<Reply> answered) {
        throw new UnsupportedOperationException();
    }

    /** Returns whether the broker's log would reject a record as out of sequence. Does not change the log. */
    default boolean rejects(Sent sent) {
        throw new UnsupportedOperationException();
    }

    /**
     * Returns the records that the broker has acknowledged to their producers. It is empty in releases whose
     * acknowledgements the adapter cannot observe (Release.answersProducers).
     */
    default Set<Integer> acknowledged() {
        return Set.of();
    }

    /** Returns the fetcher thread for a leader; null if the broker never fetched from that leader. */
    Fetcher fetcher(int leader);

    /**
     * Handles a follower's request, whether or not this broker still leads. The broker responds at once, or later if
     * the fetch finds no records and waits for them. Running the returned Runnable ends that wait as if its time were
     * over.
     */
    Runnable serve(Object request, Consumer<Answer> answered);

    /** Makes the leader look for lagging replicas, and propose an ISR without them to the gate. */
    void proposeShrink(int follower);

    /**
     * Makes the leader check the follower's last known state again, and propose an ISR with the follower to the gate.
     */
    void proposeExpand(int follower);

    /**
     * Returns the ISR that this leader has proposed and whose response it waits for (KIP-497); empty if there is none.
     */
    default Set<Integer> pendingIsr() {
        return Set.of();
    }

    /** Returns the follower's log end offset as this leader knows it; negative if the leader does not know it. */
    long remoteLeo(int follower);

    /**
     * Runs the tasks that the broker has scheduled in the background. Since KAFKA-16541, such a task writes the leader
     * epoch cache after a truncation.
     */
    default void finishScheduled() { }

    /** Writes the high watermark checkpoint. */
    void checkpoint();

    /** Flushes the log to disk. */
    void flush();

    /** Returns the log start offset; negative if the release cannot delete records. */
    default long logStart() {
        return -1;
    }

    /**
     * Deletes the records below an offset. Returns false if the offset is beyond the high watermark, or if the broker
     * does not know its high watermark yet.
     */
    default boolean deleteBelow(long offset) {
        throw new UnsupportedOperationException();
    }

    /** Writes the log start offset checkpoint. */
    default void checkpointLogStart() { }

    /** Releases the memory and the operating system resources of a broker whose process is gone. */
    void abandon();

    /** Returns the observable state of the replica. */
    Replica replica();
}
