package subject;

/** A request that a leader has, from its arrival until it is answered: a fetch that finds no records waits. */
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

    /** The leader has it. To run {@code expiry} ends its time in the purgatory. */
    void begin(Runnable expiry) {
        this.expiry = expiry;
    }

    void expire() {
        expiry.run();
    }

    /** Called by the leader, whenever Kafka's code decides. */
    void end(Answer answered) {
        answer = answered;
    }

    /** Null as long as it waits. */
    Answer answer() {
        return answer;
    }
}
