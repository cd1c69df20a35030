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
        check(proposal);
        changes.putIfAbsent(leader, new Change(proposal, wanted));
        wanted = null;
        if (rules.changesIsrAtOnce()) {
            decide(leader);
            answer(leader);
        }
    }

    /** What a request carries is what the leader is known to know. */
    private void check(Proposal proposal) {
        if (proposal.epoch() >= 0 && proposal.epoch() != wanted.epoch()
                || proposal.version() >= 0 && proposal.version() != wanted.version()) {
            throw new IllegalStateException("the leader was told " + wanted + ", and its request carries epoch "
                    + proposal.epoch() + " and version " + proposal.version());
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
        change.verdict = controller.answer(change.proposal, change.asked);
        return true;
    }

    /** {@code refuse}: a controller that is active no more answers. */
    boolean refuse(int leader) {
        return switch (rules.failure()) {
            case NONE -> false;
            case REFUSAL -> turns(underWay(leader, false), Verdict.REFUSED);
            case ERROR -> turns(underWay(leader, false), Verdict.FAILED);
        };
    }

    /** {@code altered}: the answer reaches the leader. The version that it brings, or -1 if there is no answer. */
    int answer(int leader) {
        Change change = underWay(leader, true);
        if (change == null) {
            return -1;
        }
        changes.remove(leader);
        Decision made = change.verdict.made();
        change.verdict.tell(change.proposal);
        return made != null && made.epoch() == change.asked.epoch() ? made.version() : 0;
    }

    /** {@code resend}: the answer is lost, and the leader sends the same request again. */
    boolean resend(int leader) {
        return turns(underWay(leader, true), null);
    }

    private static boolean turns(Change change, Verdict verdict) {
        if (change == null) {
            return false;
        }
        change.verdict = verdict;
        return true;
    }

    /** The leader is gone, and what it had under way with it. */
    void forget(int leader) {
        changes.remove(leader);
    }

    /** The change of a leader whose request is under way or, if {@code answered}, the answer; null if there is none. */
    private Change underWay(int leader, boolean answered) {
        Change change = changes.get(leader);
        return change != null && answered == (change.verdict != null) ? change : null;
    }

    private static final class Change {
        final Proposal proposal;
        final Decision asked;  // the ISR, and what the leader knew when it asked
        Verdict verdict;  // null until the controller has handled it

        Change(Proposal proposal, Decision asked) {
            this.proposal = proposal;
            this.asked = asked;
        }
    }
}
