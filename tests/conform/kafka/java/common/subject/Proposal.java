package subject;

import java.util.List;
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

    /** The partition's state has a new version, with this ISR. */
    void accept(List<Integer> isr, int version);

    /** The leader goes back to the ISR that it had (INELIGIBLE_REPLICA, or what comes nearest to it). */
    void revert();

    /** The leader stays with its proposal until it hears from the controller (INVALID_UPDATE_VERSION). */
    void refuse();
}
