package subject;

import java.util.Map;

/** Which Fluss this is, as the command line says: {@code VERSION [--clock MS]}. */
record Release(String version, int clockMs) {
    static Release of(String... arguments) {
        return new Release(arguments[0],
                arguments.length > 2 ? Integer.parseInt(arguments[2]) : FakeTime.LAG_MS + 1);
    }

    /** Since 0.8 the coordinator refuses an ISR with somebody who is not alive (validateLeaderAndIsr). */
    private String eligibility() {
        return version.matches("0\\.[67]\\..*") ? "unchecked" : "alive";
    }

    /** Leaders hear of changes of the ISR from the answers to their requests, and from later decisions. */
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
            throw new Unsupported("lag_time is Kafka's here: run Fluss without it");
        }
        if (host.settings().delayedFetch()) {
            throw new Unsupported("delayed_fetch: here a fetch without records is answered at once");
        }
        return new FlussServer(host);
    }

    /** What servers that are gone have left in this process: nothing. */
    void forget() { }

    /**
     * What the coordinator does (CoordinatorEventProcessor, TableBucketStateMachine, ReplicaStateMachine), which is ours
     * here, and what is assumed of followers. Under protocols of Kafka's the ISR changes in one event, unless they say
     * otherwise.
     */
    Rules rules(String protocol) {
        Map<String, String> chosen = Rules.choices(protocol);
        boolean requests = chosen.getOrDefault("isr_change", protocol.startsWith("fluss-") ? "request" : "atomic")
                .equals("request");
        return new Rules(
                false,  // where somebody can lead, he is elected in the same go, so nobody hears that nobody leads
                false,
                chosen.getOrDefault("registration", "fenced").equals("fenced"),  // no end of a session is missed
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
