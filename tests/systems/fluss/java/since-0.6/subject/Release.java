package subject;

import java.util.Map;

/** The Fluss release from the command line: {@code VERSION [--clock MS]}. */
record Release(String version, int clockMs) {
    static Release of(String... arguments) {
        return new Release(arguments[0],
                arguments.length > 2 ? Integer.parseInt(arguments[2]) : FakeTime.LAG_MS + 1);
    }

    /** Since 0.8, the coordinator rejects an ISR with a dead member (validateLeaderAndIsr). */
    private String eligibility() {
        return version.matches("0\\.[67]\\..*") ? "unchecked" : "alive";
    }

    /** Returns false: a leader learns ISR changes only from the responses to its requests, and from later decisions. */
    boolean isRaft() {
        return false;
    }

    boolean answersProducers() {
        return true;
    }

    boolean sendsAgain() {
        return false;
    }

    Broker start(Host host) {
        if (host.settings().lagTime()) {
            throw new Unsupported("the adapter for Fluss does not support lag_time; reset without lag_time");
        }
        if (host.settings().delayedFetch()) {
            throw new Unsupported("the adapter for Fluss does not support delayed_fetch; reset without delayed_fetch");
        }
        return new FlussServer(host);
    }

    /** Does nothing, because servers of earlier schedules leave nothing in this process. */
    void forget() { }

    /**
     * The rules of the coordinator that the adapter implements (as CoordinatorEventProcessor, TableBucketStateMachine
     * and ReplicaStateMachine do), and assumptions about followers. Under Kafka's protocols, an ISR change is one event
     * unless the protocol says otherwise.
     */
    Rules rules(String protocol) {
        Map<String, String> chosen = Rules.choices(protocol);
        boolean requests = chosen.getOrDefault("isr_change", protocol.startsWith("fluss-") ? "request" : "atomic")
                .equals("request");
        return new Rules(
                // if a server can lead, the coordinator elects it in the same step, so no server learns a decision
                // without a leader
                false,
                false,
                // the coordinator notices the end of every session
                chosen.getOrDefault("registration", "fenced").equals("fenced"),
                true,
                true,
                true,
                true,
                false,
                false,
                !requests,
                false,
                Rules.Failure.NONE,
                false,
                false,
                Rules.Eligibility.valueOf(chosen.getOrDefault("isr_eligibility", eligibility()).toUpperCase()));
    }
}
