package subject;

import java.util.ArrayList;
import java.util.List;

/**
 * The controller's side of changes of the ISR. It lets through the one change that an event asks for, and no other:
 * Kafka's leaders look for such changes whenever a follower fetches.
 */
final class IsrGate implements Gate {
    private final Controller controller;
    private List<Integer> wanted;

    IsrGate(Controller controller) {
        this.controller = controller;
    }

    /** Whether {@code work} made the leader propose that a replica leaves the ISR; then it has left. */
    boolean opensToRemove(int replica, Runnable work) {
        List<Integer> isr = new ArrayList<>(controller.current().isr());
        return isr.remove((Integer) replica) && opens(isr, work);
    }

    /** The same for a replica that joins. */
    boolean opensToAdd(int replica, Runnable work) {
        List<Integer> isr = new ArrayList<>(controller.current().isr());
        return !isr.contains(replica) && isr.add(replica) && opens(isr, work);
    }

    private boolean opens(List<Integer> isr, Runnable work) {
        wanted = isr;
        work.run();
        boolean used = wanted == null;
        wanted = null;
        return used;
    }

    @Override public void propose(int leader, Proposal proposal) {
        if (wanted == null || !isWanted(proposal)) {
            proposal.revert();
            return;
        }
        controller.changeIsr(wanted);
        wanted = null;
        proposal.accept(controller.current().isr(), controller.version());
    }

    /** A leader that proposes to remove all that lag gets one of them removed. */
    private boolean isWanted(Proposal proposal) {
        return proposal.isr().equals(java.util.Set.copyOf(wanted))
                || wanted.size() < controller.current().isr().size() && wanted.containsAll(proposal.isr());
    }
}
