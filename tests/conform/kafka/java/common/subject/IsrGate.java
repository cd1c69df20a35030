package subject;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The controller's side of changes of the ISR. It lets through the one change that an event asks for, and no other:
 * Kafka's leaders look for such changes whenever a follower fetches.
 *
 * <p>A change is a request, what the controller makes of it, and the answer (KIP-497). Where changes are atomic the
 * three are one: so they were under ZooKeeper, and so most searches have them.
 */
final class IsrGate implements Gate {
    private final Controller controller;
    private final Rules rules;
    private final Map<Integer, Change> changes = new HashMap<>();  // by leader, which has one request at a time
    private List<Integer> wanted;
    private int knownVersion;

    IsrGate(Controller controller, Rules rules) {
        this.controller = controller;
        this.rules = rules;
    }

    /**
     * Whether {@code work} makes the leader propose that a replica leaves the ISR, as {@code version} of the partition's
     * state has it. Where changes are atomic it has left then.
     */
    boolean opensToRemove(int replica, int version, Runnable work) {
        List<Integer> isr = new ArrayList<>(controller.current().isr());
        return isr.remove((Integer) replica) && opens(isr, version, work);
    }

    /** The same for a replica that joins. */
    boolean opensToAdd(int replica, int version, Runnable work) {
        List<Integer> isr = new ArrayList<>(controller.current().isr());
        return !isr.contains(replica) && isr.add(replica) && opens(isr, version, work);
    }

    private boolean opens(List<Integer> isr, int version, Runnable work) {
        wanted = isr;
        knownVersion = version;
        work.run();
        boolean used = wanted == null;
        wanted = null;
        return used && (!rules.changesIsrAtOnce() || controller.current().isr().equals(isr));
    }

    @Override public void propose(int leader, Proposal proposal) {
        if (wanted == null || !isWanted(proposal) || changes.containsKey(leader)) {
            proposal.revert();
            return;
        }
        changes.put(leader, new Change(proposal, wanted, knownVersion));
        wanted = null;
        if (rules.changesIsrAtOnce()) {
            decide(leader);
            answer(leader);
        }
    }

    /** A leader that proposes to remove all that lag gets one of them removed. */
    private boolean isWanted(Proposal proposal) {
        return proposal.isr().equals(Set.copyOf(wanted))
                || wanted.size() < controller.current().isr().size() && wanted.containsAll(proposal.isr());
    }

    boolean isBusy(int leader) {
        return changes.containsKey(leader);
    }

    /** {@code alter}: the controller handles the request of a leader. */
    boolean decide(int leader) {
        Change change = changes.get(leader);
        if (change == null || change.outcome != Outcome.PENDING) {
            return false;
        }
        if (change.version != controller.version()) {
            change.outcome = rules.answersDuplicates() && isDuplicate(leader, change) ? Outcome.APPLIED : Outcome.REFUSED;
        } else if (!controller.admits(change.isr, change.proposal.brokerEpochs())) {
            change.outcome = Outcome.REVERTED;
        } else {
            controller.changeIsr(change.isr);
            change.outcome = Outcome.APPLIED;
        }
        change.version = controller.version();
        return true;
    }

    private boolean isDuplicate(int leader, Change change) {
        return controller.current().leader() == leader
                && Set.copyOf(controller.current().isr()).equals(Set.copyOf(change.isr));
    }

    /** {@code altered}: the answer reaches the leader. The version that it brings, or -1 if there is no answer. */
    int answer(int leader) {
        Change change = changes.get(leader);
        if (change == null || change.outcome == Outcome.PENDING) {
            return -1;
        }
        changes.remove(leader);
        switch (change.outcome) {
            case APPLIED -> change.proposal.accept(change.isr, change.version);
            case REVERTED -> change.proposal.revert();
            default -> change.proposal.refuse();
        }
        return change.outcome == Outcome.APPLIED ? change.version : 0;
    }

    /** {@code resend}: the answer is lost, and the leader sends the same request again. */
    boolean resend(int leader) {
        Change change = changes.get(leader);
        if (change == null || change.outcome == Outcome.PENDING) {
            return false;
        }
        change.version = change.sent;
        change.outcome = Outcome.PENDING;
        return true;
    }

    /** The leader is gone, and what it had under way with it. */
    void forget(int leader) {
        changes.remove(leader);
    }

    private enum Outcome { PENDING, APPLIED, REFUSED, REVERTED }

    private static final class Change {
        final Proposal proposal;
        final List<Integer> isr;
        final int sent;  // the version of the partition's state that the request names
        int version;
        Outcome outcome = Outcome.PENDING;

        Change(Proposal proposal, List<Integer> isr, int version) {
            this.proposal = proposal;
            this.isr = isr;
            this.sent = version;
            this.version = version;
        }
    }
}
