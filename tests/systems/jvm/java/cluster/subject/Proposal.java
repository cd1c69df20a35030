package subject;

import java.util.Map;
import java.util.Set;

/** A leader's proposal to change the ISR. The leader waits for the controller's response. */
interface Proposal {
    /** Returns the proposed ISR. */
    Set<Integer> isr();

    /**
     * Returns the members' broker epochs that the leader knows (KIP-903); -1 for a member that has not fetched from the
     * leader.
     */
    default Map<Integer, Long> brokerEpochs() {
        return Map.of();
    }

    /** Returns the leader epoch in the request; -1 if the adapter does not check it. */
    default int epoch() {
        return -1;
    }

    /** Returns the version of the partition's state in the request; -1 if the adapter does not check it. */
    default int version() {
        return -1;
    }

    /** Returns the request in the form that Kafka's own controller expects. */
    default Object request() {
        throw new IllegalStateException("this proposal has no AlterPartition request");
    }

    /** The controller accepts the proposal. The leader adopts the new state of the partition. */
    void accept(Decision made);

    /** The controller responds with one of Kafka's error codes. */
    default void fail(short error) {
        throw new IllegalStateException("the controller never responds with this error code: " + error);
    }

    /**
     * The leader withdraws the proposal and keeps its former ISR (INELIGIBLE_REPLICA, or the closest error of the
     * release).
     */
    void revert();

    /**
     * The controller rejects the proposal (INVALID_UPDATE_VERSION). The proposal stays pending until the next update.
     */
    void refuse();
}
