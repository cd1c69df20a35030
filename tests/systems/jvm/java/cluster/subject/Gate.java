package subject;

/** The controller, as a leader sees it that proposes an ISR. */
interface Gate {
    void propose(int leader, Proposal proposal);
}
