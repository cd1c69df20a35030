package subject;

import java.util.Map;
import java.util.Set;

/** A leader wants to change the ISR, and waits for the controller's answer. */
interface Proposal {
    /** The ISR that it wants. */
    Set<Integer> isr();

    /** The broker epochs that it knows of the members, since KIP-903; -1 for one that has not fetched from it. */
    default Map<Integer, Long> brokerEpochs() {
        return Map.of();
    }

    /** The leader epoch that the request carries; -1 where what it carries is not looked at. */
    default int epoch() {
        return -1;
    }

    /** The version of the partition's state that it carries; -1 likewise. */
    default int version() {
        return -1;
    }

    /** The request as Kafka's own controller gets it. */
    default Object request() {
        throw new IllegalStateException("a request that is no record of Kafka's");
    }

    /** The partition's state is another now. */
    void accept(Decision made);

    /** The controller answers with an error of Kafka's. */
    default void fail(short error) {
        throw new IllegalStateException("an error that is no controller's: " + error);
    }

    /** The leader goes back to the ISR that it had (INELIGIBLE_REPLICA, or what comes nearest to it). */
    void revert();

    /** The leader stays with its proposal until it hears from the controller (INVALID_UPDATE_VERSION). */
    void refuse();
}
