package subject;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * The controller of the partition: its decisions by leader epoch, the last of which is the current one. The bound on
 * epochs is the harness's business: when all is over, everybody has to return whatever it is.
 */
final class Controller {
    private final Settings settings;
    private final Rules rules;
    private final IntPredicate isUp;
    private final long[] brokerEpochs;
    private final List<Decision> decisions = new ArrayList<>();
    private final List<Decision> history = new ArrayList<>();  // the same with every change of the ISR, by version
    private final Set<Integer> fenced = new TreeSet<>();

    Controller(Settings settings, Rules rules, IntPredicate isUp, long[] brokerEpochs) {
        this.settings = settings;
        this.rules = rules;
        this.isUp = isUp;
        this.brokerEpochs = brokerEpochs;
        decide(0, IntStream.range(0, settings.replicas()).boxed().toList());
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
        if (current().isr().contains(replica)) {
            decide(replica, isFailOver() ? current().isr().stream().filter(isUp::test).toList() : current().isr());
            return true;
        }
        if (settings.uncleanLeaderElection() && current().isr().stream().noneMatch(this::isAlive)) {
            decide(replica, List.of(replica));
            return true;
        }
        return false;
    }

    /** The session of a replica is over, which under KRaft fences it until it is heard from again. */
    boolean expire(int replica) {
        boolean expires = !fenced.contains(replica) && endSession(replica);
        if (expires && rules.fencesExpired()) {
            fenced.add(replica);
        }
        return expires;
    }

    /** A replica whose session was over is heard from again, and never noticed. */
    boolean unfence(int replica) {
        return isUp.test(replica) && fenced.remove(replica);
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
        if (leads || rules.bumpsEpochOnFence()) {
            decide(leads ? Decision.NOBODY : current().leader(), without(replica));
        } else {
            changeIsr(without(replica));
        }
        return true;
    }

    /** A replica that comes back registers, and may be found to have been away (KIP-380). */
    void register(int replica) {
        if (rules.fencesRegistration()) {
            endSession(replica);
        }
        fenced.remove(replica);
    }

    /** Whether all of an ISR may be in it, of whom a leader knows these broker epochs. */
    boolean admits(List<Integer> isr, Map<Integer, Long> knownEpochs) {
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

    /** The ISR of the current decision is another now. */
    void changeIsr(List<Integer> isr) {
        decisions.set(epoch(), current().withIsr(isr, history.size()));
        history.add(current());
    }

    int version() {
        return history.size() - 1;
    }

    /** What became of the partition after a version, up to a decision. */
    List<Decision> between(int version, Decision last) {
        return history.subList(version + 1, last.version() + 1);
    }

    private boolean isAlive(int replica) {
        return isUp.test(replica) && !fenced.contains(replica);
    }

    private boolean wouldExpire(int replica) {
        return current().leader() == replica || !without(replica).equals(current().isr());
    }

    private List<Integer> without(int replica) {
        List<Integer> others = current().isr().stream().filter(member -> member != replica).toList();
        return others.isEmpty() ? current().isr() : others;
    }

    private boolean isFailOver() {
        return rules.dropsDeadOnFailOver() && (!current().hasLeader() || !isUp.test(current().leader()));
    }

    private void decide(int leader, List<Integer> isr) {
        decisions.add(new Decision(decisions.size(), leader, isr, history.size()));
        history.add(current());
    }
}
