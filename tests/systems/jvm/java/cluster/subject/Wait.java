package subject;

/** A request at a leader, from its arrival until the response. A fetch that finds no records waits. */
final class Wait {
    private final Node leader;
    private Runnable expiry;
    private Answer answer;

    Wait(Node leader) {
        this.leader = leader;
    }

    Node leader() {
        return leader;
    }

    /** Notes that the leader has the request. Running {@code expiry} ends its time in the purgatory. */
    void begin(Runnable expiry) {
        this.expiry = expiry;
    }

    void expire() {
        expiry.run();
    }

    /** Receives the leader's response. Kafka's code decides when to call this. */
    void end(Answer answered) {
        answer = answered;
    }

    /** Returns the response, or null while the request waits. */
    Answer answer() {
        return answer;
    }
}
