package subject;

/** The controller, as leaders see it that want to change the ISR. */
interface Gate {
    void propose(int leader, Proposal proposal);
}
