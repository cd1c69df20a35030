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
 * The controller of the partition: its decisions by leader epoch, the last of which is the current one. Who is elected
 * and whose session ends is for the events to say; under KRaft what is written then, and what becomes of a leader's
 * request, is for Kafka's own controller (Quorum). The bound on epochs is the harness's business: when all is over,
 * everybody has to return whatever it is.
 */
final class Controller {
    private final Settings settings;
    private final Rules rules;
    private final IntPredicate isUp;
    private final long[] brokerEpochs;
    private final Quorum quorum;
    private final List<Decision> decisions = new ArrayList<>();
    private final List<Integer> begins = new ArrayList<>();  // by epoch, where its first record is in the metadata log
    private final Set<Integer> fenced = new TreeSet<>();
    private final Set<Integer> clean = new TreeSet<>();  // who has shut down under control

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

    /** A member of the ISR becomes leader, or anyone, if that is allowed and no member is up. */
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

    /** The session of a replica is over, which under KRaft fences it until it is heard from again. */
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

    /** A replica shuts down under control, and writes down that it did. */
    void shutDown(int replica) {
        endSession(replica);
        fence(replica, true);
        clean.add(replica);
    }

    /** A replica has lost its log directory, and with it what it wrote down. */
    void forgetCleanShutdown(int replica) {
        clean.remove(replica);
    }

    /** A replica whose session was over is heard from again, and never noticed. */
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

    /** A replica leads no more, and leaves the ISR unless it is the last member. */
    boolean endSession(int replica) {
        if (!wouldExpire(replica)) {
            return false;
        }
        boolean leads = current().leader() == replica;
        boolean newEpoch = leads || rules.bumpsEpochOnFence();
        return adopt(quorum.change(
                current(), leads ? Decision.NOBODY : current().leader(), without(replica), newEpoch, false));
    }

    /** A replica that comes back registers, and may be found to have been away (KIP-380). */
    void register(int replica) {
        brokerEpochs[replica]++;
        if (rules.fencesRegistration()) {
            endSession(replica);
        }
        take(quorum.register(replica, clean.remove(replica), false));
        fenced.remove(replica);
    }

    /** Another process of a fenced broker is registered, and fenced. */
    void registerFenced(int replica) {
        brokerEpochs[replica]++;
        take(quorum.register(replica, clean.remove(replica), true));
    }

    private void take(Decision changed) {
        if (changed != null) {
            adopt(changed);
        }
    }

    /** By broker, which of its incarnations is registered, where that counts; negative if it is fenced. */
    List<Long> registrations() {
        boolean incarnations = rules.eligibility() == Rules.Eligibility.INCARNATION;
        return IntStream.range(0, settings.replicas()).mapToObj(broker ->
                (incarnations ? brokerEpochs[broker] : 1) * (fenced.contains(broker) ? -1 : 1)).toList();
    }

    /** What becomes of a leader's request for another ISR. */
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

    /** Whether all of an ISR may be in it, of whom a leader knows these broker epochs. */
    private boolean admits(List<Integer> isr, Map<Integer, Long> knownEpochs) {
        return switch (rules.eligibility()) {
            case UNCHECKED -> true;
            case ALIVE -> mustBeAlive(isr).allMatch(this::isAlive);
            case INCARNATION -> mustBeAlive(isr).allMatch(this::isAlive) && isr.stream().allMatch(
                    member -> knownEpochs.getOrDefault(member, -1L) < 0 || knownEpochs.get(member) == brokerEpochs[member]);
        };
    }

    /** Where changes are atomic a member that is down, and that nobody has noticed yet, is no obstacle for another. */
    private IntStream mustBeAlive(List<Integer> isr) {
        return isr.stream().mapToInt(Integer::intValue)
                .filter(member -> !rules.changesIsrAtOnce() || !current().isr().contains(member));
    }

    int version() {
        return current().version();
    }

    /** Where the metadata log ends for who has learned a decision: before the next one or, of the current one, at its end. */
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
            throw new IllegalStateException("after epoch " + epoch() + " comes " + made);
        }
        return true;
    }
}
