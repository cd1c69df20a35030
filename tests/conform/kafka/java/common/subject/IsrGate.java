package subject;

import java.util.HashMap;
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
    private Decision wanted;

    IsrGate(Controller controller, Rules rules) {
        this.controller = controller;
        this.rules = rules;
    }

    /**
     * Whether {@code work} makes the leader propose an ISR, for the leader epoch and version of the partition's state
     * that it knows. Where changes are atomic the controller has that ISR then.
     */
    boolean opens(Decision asked, Runnable work) {
        wanted = asked;
        work.run();
        boolean used = wanted == null;
        wanted = null;
        return used && (!rules.changesIsrAtOnce() || controller.current().isr().equals(asked.isr()));
    }

    /** While an earlier request is under way nothing is sent: what is proposed then is never answered (KAFKA-12686). */
    @Override public void propose(int leader, Proposal proposal) {
        if (wanted == null || !proposal.isr().equals(Set.copyOf(wanted.isr()))) {
            proposal.revert();
            return;
        }
        changes.putIfAbsent(leader, new Change(proposal, wanted));
        wanted = null;
        if (rules.changesIsrAtOnce()) {
            decide(leader);
            answer(leader);
        }
    }

    boolean isBusy(int leader) {
        return changes.containsKey(leader);
    }

    /** {@code alter}: the controller handles the request of a leader. */
    boolean decide(int leader) {
        Change change = underWay(leader, false);
        if (change == null) {
            return false;
        }
        if (change.asked.version() != controller.version()) {
            change.outcome = rules.answersDuplicates() && isSoAlready(change.asked) ? Outcome.APPLIED : Outcome.REFUSED;
        } else if (!controller.admits(change.asked.isr(), change.proposal.brokerEpochs())) {
            change.outcome = Outcome.REVERTED;
        } else {
            controller.changeIsr(change.asked.isr());
            change.outcome = Outcome.APPLIED;
        }
        change.version = controller.version();
        return true;
    }

    private boolean isSoAlready(Decision asked) {
        return asked.withVersion(controller.version()).equals(controller.current());
    }

    /** {@code refuse}: a controller that is active no more answers (KAFKA-14154). */
    boolean refuse(int leader) {
        return turns(underWay(leader, false), Outcome.REFUSED);
    }

    /** {@code altered}: the answer reaches the leader. The version that it brings, or -1 if there is no answer. */
    int answer(int leader) {
        Change change = underWay(leader, true);
        if (change == null) {
            return -1;
        }
        changes.remove(leader);
        switch (change.outcome) {
            case APPLIED -> change.proposal.accept(change.asked.isr(), change.version);
            case REVERTED -> change.proposal.revert();
            default -> change.proposal.refuse();
        }
        return change.outcome == Outcome.APPLIED ? change.version : 0;
    }

    /** {@code resend}: the answer is lost, and the leader sends the same request again. */
    boolean resend(int leader) {
        return turns(underWay(leader, true), Outcome.PENDING);
    }

    private static boolean turns(Change change, Outcome outcome) {
        if (change == null) {
            return false;
        }
        change.outcome = outcome;
        return true;
    }

    /** The leader is gone, and what it had under way with it. */
    void forget(int leader) {
        changes.remove(leader);
    }

    /** The change of a leader whose request is under way or, if {@code answered}, the answer; null if there is none. */
    private Change underWay(int leader, boolean answered) {
        Change change = changes.get(leader);
        return change != null && answered == (change.outcome != Outcome.PENDING) ? change : null;
    }

    private enum Outcome { PENDING, APPLIED, REFUSED, REVERTED }

    private static final class Change {
        final Proposal proposal;
        final Decision asked;  // the ISR, and what the leader knew when it asked
        Outcome outcome = Outcome.PENDING;
        int version;  // of the partition's state, when the request was answered

        Change(Proposal proposal, Decision asked) {
            this.proposal = proposal;
            this.asked = asked;
        }
    }
}
