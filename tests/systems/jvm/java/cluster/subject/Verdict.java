package subject;

/**
 * The controller's result for a request to change the ISR.
 *
 * @param made the new state of the partition; null if the controller has rejected the request
 * @param goesBack whether the leader has to withdraw its proposal
 * @param error Kafka's error code; 0 if there is no error or the adapter's own controller rejects the request
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
