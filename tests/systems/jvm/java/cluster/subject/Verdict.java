package subject;

/**
 * What a controller makes of a request to change the ISR.
 *
 * @param made the partition's state by the request, null if it was turned down
 * @param goesBack whether the leader has to take back what it has proposed
 * @param error Kafka's code for an error; 0 where the controller is ours, unless it fails
 */
record Verdict(Decision made, boolean goesBack, short error) {
    static final Verdict REFUSED = new Verdict(null, false, (short) 0);
    static final Verdict FAILED = new Verdict(null, false, (short) -1);  // UNKNOWN_SERVER_ERROR
    static final Verdict REVERTED = new Verdict(null, true, (short) 0);

    static Verdict applied(Decision made) {
        return new Verdict(made, false, (short) 0);
    }

    void tell(Proposal proposal) {
        if (made != null) {
            proposal.accept(made);
        } else if (error != 0) {
            proposal.fail(error);
        } else if (goesBack) {
            proposal.revert();
        } else {
            proposal.refuse();
        }
    }
}
