package subject;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The controller's side of ISR changes. Kafka's leaders check for such changes whenever a follower fetches. The gate
 * lets only that change through that the current event asks for.
 *
 * <p>A change of the ISR consists of the leader's request, the controller's decision, and the response (KIP-497). Where
 * changes are atomic, these three are one event: under ZooKeeper, and in most searches.
 */
final class IsrGate implements Gate {
    private final Controller controller;
    private final Rules rules;
    private final Map<Integer, Change> changes = new HashMap<>();  // by leader; a leader has one request in flight
    private Decision wanted;

    IsrGate(Controller controller, Rules rules) {
        this.controller = controller;
        this.rules = rules;
    }

    /**
     * Runs {@code work}. Returns whether it has made the leader propose the ISR of {@code asked}, whose leader epoch
     * and version are those that the leader knows. If changes are atomic, the controller must also have adopted this
     * ISR.
     */
    boolean opens(Decision asked, Runnable work) {
        wanted = asked;
        work.run();
        boolean used = wanted == null;
        wanted = null;
        return used && (!rules.changesIsrAtOnce() || controller.current().isr().equals(asked.isr()));
    }

    /**
     * Receives a leader's proposal, and reverts it if the current event asks for another one. If an earlier request of
     * the leader is in flight, the new proposal is not sent, and never gets a response (KAFKA-12686).
     */
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

    /** Throws if the request carries another leader epoch or version than the leader has learned. */
    private void check(Proposal proposal) {
        if (proposal.epoch() >= 0 && proposal.epoch() != wanted.epoch()
                || proposal.version() >= 0 && proposal.version() != wanted.version()) {
            throw new IllegalStateException("the leader has learned " + wanted + ", and its request carries epoch "
                    + proposal.epoch() + " and version " + proposal.version());
        }
    }

    boolean isBusy(int leader) {
        return changes.containsKey(leader);
    }

    /** {@code alter}: the controller handles the leader's request. */
    boolean decide(int leader) {
        Change change = underWay(leader, false);
        if (change == null) {
            return false;
        }
        change.verdict = controller.answer(change.proposal, change.asked);
        return true;
    }

    /** {@code refuse}: a controller that is no longer active responds with an error. */
    boolean refuse(int leader) {
        return switch (rules.failure()) {
            case NONE -> false;
            case REFUSAL -> turns(underWay(leader, false), Verdict.REFUSED);
            case ERROR -> turns(underWay(leader, false), Verdict.FAILED);
        };
    }

    /**
     * {@code altered}: the response reaches the leader. Returns the version in the response, 0 if the response has no
     * version of this leader epoch, or -1 if no response is in flight.
     */
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

    /** {@code resend}: the response is lost, and the leader sends the same request again. */
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

    /** Discards the request in flight of a leader that has stopped. */
    void forget(int leader) {
        changes.remove(leader);
    }

    /**
     * Returns the leader's change whose request is in flight or, if {@code answered}, whose response is in flight; null
     * if there is none.
     */
    private Change underWay(int leader, boolean answered) {
        Change change = changes.get(leader);
        return change != null && answered == (change.verdict != null) ? change : null;
    }

    private static final class Change {
        final Proposal proposal;
        final Decision asked;  // the proposed ISR, with the leader epoch and version that the leader knew
        Verdict verdict;  // null until the controller has handled the request

        Change(Proposal proposal, Decision asked) {
            this.proposal = proposal;
            this.asked = asked;
        }
    }
}
