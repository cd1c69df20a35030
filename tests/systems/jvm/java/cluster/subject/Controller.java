package subject;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The controller of the partition. It keeps the latest decision of each leader epoch, and the last one is current. The
 * events say which replica is elected and whose session ends. Under KRaft, Kafka's own controller code (Quorum) writes
 * the resulting records and, unless an ISR change is one event, handles the leaders' requests. The harness bounds the
 * number of epochs. This class has no bound, because every broker must be able to return after all faults have stopped,
 * whatever the epoch is.
 */
final class Controller {
    private final Settings settings;
    private final Rules rules;
    private final IntPredicate isUp;
    private final long[] brokerEpochs;
    private final Quorum quorum;
    private final List<Decision> decisions = new ArrayList<>();
    // by epoch: the position of its first record in the metadata log
    private final List<Integer> begins = new ArrayList<>();
    private final Set<Integer> fenced = new TreeSet<>();
    private final Set<Integer> clean = new TreeSet<>();  // brokers that ended by a controlled shutdown

    Controller(Settings settings, Rules rules, IntPredicate isUp, long[] brokerEpochs, Quorum quorum) {
        this.settings = settings;
        this.rules = rules;
        this.isUp = isUp;
        this.brokerEpochs = brokerEpochs;
        this.quorum = quorum;
        decisions.add(new Decision(0, 0, IntStream.range(0, settings.replicas()).boxed().toList(), 0));
        begins.add(0);
    }

    Decision current() {
        return decisions.get(epoch());
    }

    Decision of(int epoch) {
        return decisions.get(epoch);
    }

    int epoch() {
        return decisions.size() - 1;
    }

    /**
     * Elects a member of the ISR. If the ISR is empty, it elects an eligible leader replica or the last known leader
     * (KIP-966). If unclean elections are allowed and none of these replicas is alive, it elects any replica. Returns
     * whether there was an election.
     */
    boolean elect(int replica) {
        if (!isAlive(replica) || replica == current().leader()) {
            return false;
        }
        List<Integer> isr = current().isr();
        if (isr.contains(replica)) {
            return decide(replica, isFailOver() ? isr.stream().filter(isUp::test).toList() : isr, false);
        }
        List<Integer> elr = quorum.elr();
        if (isr.isEmpty() && (elr.contains(replica) || elr.isEmpty() && quorum.lastKnownLeader() == replica)) {
            return decide(replica, isr, false);
        }
        if (settings.uncleanLeaderElection()
                && Stream.concat(isr.stream(), elr.stream()).noneMatch(this::isAlive)) {
            return decide(replica, List.of(replica), true);
        }
        return false;
    }

    /** Ends the session of a replica. Under KRaft this fences the replica until its next heartbeat. */
    boolean expire(int replica) {
        if (fenced.contains(replica)) {
            return false;
        }
        boolean ends = endSession(replica);
        if (rules.fencesExpired()) {
            fence(replica, false);
        }
        return ends || rules.fencesExpired();
    }

    private void fence(int replica, boolean shuttingDown) {
        fenced.add(replica);
        quorum.fence(replica, shuttingDown);
    }

    /** Ends the session by a controlled shutdown, and records that the shutdown was clean. */
    void shutDown(int replica) {
        endSession(replica);
        fence(replica, true);
        clean.add(replica);
    }

    /** Forgets the replica's clean shutdown, because the replica has lost its log directory. */
    void forgetCleanShutdown(int replica) {
        clean.remove(replica);
    }

    /** Unfences a replica whose session had ended. The replica itself does not notice either change. */
    boolean unfence(int replica) {
        if (!isUp.test(replica) || !fenced.remove(replica)) {
            return false;
        }
        quorum.unfence(replica);
        return true;
    }

    Set<Integer> fenced() {
        return fenced;
    }

    /**
     * Ends the leadership of the replica, and removes it from the ISR. The last member stays in the ISR, except with
     * eligible leader replicas (KIP-966). Returns whether anything changed.
     */
    boolean endSession(int replica) {
        if (!wouldExpire(replica)) {
            return false;
        }
        boolean leads = current().leader() == replica;
        boolean newEpoch = leads || rules.bumpsEpochOnFence();
        return adopt(quorum.change(
                current(), leads ? Decision.NOBODY : current().leader(), without(replica), newEpoch, false));
    }

    /** Registers a restarted broker. With KIP-380, the controller first ends the session of the former process. */
    void register(int replica) {
        brokerEpochs[replica]++;
        if (rules.fencesRegistration()) {
            endSession(replica);
        }
        take(quorum.register(replica, clean.remove(replica), false));
        fenced.remove(replica);
    }

    /** Registers a new process of a fenced broker, and keeps it fenced. */
    void registerFenced(int replica) {
        brokerEpochs[replica]++;
        take(quorum.register(replica, clean.remove(replica), true));
    }

    private void take(Decision changed) {
        if (changed != null) {
            adopt(changed);
        }
    }

    /**
     * Returns one number for each broker: its broker epoch if the controller checks broker epochs, otherwise 1. The
     * number is negative if the broker is fenced.
     */
    List<Long> registrations() {
        boolean incarnations = rules.eligibility() == Rules.Eligibility.INCARNATION;
        return IntStream.range(0, settings.replicas()).mapToObj(broker ->
                (incarnations ? brokerEpochs[broker] : 1) * (fenced.contains(broker) ? -1 : 1)).toList();
    }

    /** Handles a leader's request to change the ISR. */
    Verdict answer(Proposal proposal, Decision asked) {
        if (quorum.isKafkas()) {
            Verdict verdict = quorum.alter(proposal);
            if (verdict.made() != null) {
                adopt(verdict.made());
            }
            return verdict;
        }
        if (asked.version() != version()) {
            return rules.answersDuplicates() && asked.withVersion(version()).equals(current())
                    ? Verdict.applied(current()) : Verdict.REFUSED;
        }
        if (!admits(asked.isr(), proposal.brokerEpochs())) {
            return Verdict.REVERTED;
        }
        adopt(quorum.write(current(), asked.isr()));
        return Verdict.applied(current());
    }

    /**
     * Returns whether all members of the proposed ISR are eligible. {@code knownEpochs} are their broker epochs in the
     * request.
     */
    private boolean admits(List<Integer> isr, Map<Integer, Long> knownEpochs) {
        return switch (rules.eligibility()) {
            case UNCHECKED -> true;
            case ALIVE -> mustBeAlive(isr).allMatch(this::isAlive);
            case INCARNATION -> mustBeAlive(isr).allMatch(this::isAlive) && isr.stream().allMatch(
                    member -> knownEpochs.getOrDefault(member, -1L) < 0 || knownEpochs.get(member) == brokerEpochs[member]);
        };
    }

    /**
     * Returns the members that have to be alive. If a change of the ISR is one event, only new members have to be: a
     * dead member whose session has not ended must not prevent another change.
     */
    private IntStream mustBeAlive(List<Integer> isr) {
        return isr.stream().mapToInt(Integer::intValue)
                .filter(member -> !rules.changesIsrAtOnce() || !current().isr().contains(member));
    }

    int version() {
        return current().version();
    }

    /**
     * Returns the end of the metadata log for a broker that has learned this decision: the position before the next
     * decision's first record, or the end of the log for the current decision.
     */
    int end(Decision decision) {
        return decision.epoch() < epoch() ? begins.get(decision.epoch() + 1) : quorum.size();
    }

    private boolean isAlive(int replica) {
        return isUp.test(replica) && !fenced.contains(replica);
    }

    private boolean wouldExpire(int replica) {
        List<Integer> others = without(replica);
        return current().leader() == replica
                || others.size() < current().isr().size() && !(others.isEmpty() && quorum.keepsLastMember());
    }

    private List<Integer> without(int replica) {
        return current().isr().stream().filter(member -> member != replica).toList();
    }

    private boolean isFailOver() {
        return rules.dropsDeadOnFailOver() && (!current().hasLeader() || !isUp.test(current().leader()));
    }

    private boolean decide(int leader, List<Integer> isr, boolean unclean) {
        return adopt(quorum.change(current(), leader, isr, true, unclean));
    }

    private boolean adopt(Decision made) {
        if (made == null) {
            return false;
        }
        if (made.epoch() == epoch()) {
            decisions.set(epoch(), made);
        } else if (made.epoch() == epoch() + 1) {
            decisions.add(made);
            begins.add(quorum.size() - 1);
        } else {
            throw new IllegalStateException("the epoch must stay " + epoch() + " or rise by 1: " + made);
        }
        return true;
    }
}
