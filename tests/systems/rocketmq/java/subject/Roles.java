package subject;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.apache.rocketmq.remoting.protocol.body.SyncStateSet;

/**
 * The reactions of a broker's ReplicasManager to a decision, and to a change of its SyncStateSet. RocketMQ's own class
 * needs a whole BrokerController, so the adapter repeats the steps of changeToMaster, changeToSlave,
 * changeSyncStateSet, checkSyncStateSetAndDoReport and doReportSyncStateSetChanged in the same order.
 */
final class Roles {
    private final Broker broker;
    // changes that wait for the response to an earlier change
    private final Deque<Set<Long>> changes = new ArrayDeque<>();
    private Asked asked;
    private Long master;
    private volatile int masterEpoch;
    private Set<Long> set = Set.of();
    private volatile int setEpoch;

    Roles(Broker broker) {
        this.broker = broker;
    }

    Long master() {
        return master;
    }

    int masterEpoch() {
        return masterEpoch;
    }

    int setEpoch() {
        return setEpoch;
    }

    Asked asked() {
        return asked;
    }

    void learn(Decision decision) throws Exception {
        if (decision.epoch() <= masterEpoch) {
            return;
        }
        masterEpoch = decision.epoch();
        boolean same = Long.valueOf(decision.master()).equals(master);
        master = decision.master();
        if (master == broker.id) {
            changeSyncStateSet(decision.set(), decision.setEpoch());
            if (same && broker.isMaster()) {
                broker.ha().changeToMasterWhenLastRoleIsMaster(masterEpoch);
            } else {
                broker.ha().changeToMaster(masterEpoch);
                broker.becomeMaster();
            }
            check();
        } else if (same) {
            broker.ha().changeToSlaveWhenMasterNotChange(null, masterEpoch);
        } else {
            broker.becomeSlave();
            broker.ha().changeToSlave(null, masterEpoch, broker.id);
        }
        broker.unfence();
    }

    /** Applies a new SyncStateSet of an epoch that the broker knows. */
    void changeSyncStateSet(Set<Long> newSet, int epoch) {
        if (epoch > setEpoch) {
            setEpoch = epoch;
            set = new HashSet<>(newSet);
            broker.ha().setSyncStateSet(newSet);
        }
    }

    /** Checks for slaves that have lagged for too long, as a master does periodically. */
    void check() {
        Set<Long> wanted = broker.ha().maybeShrinkSyncStateSet();
        wanted.add(broker.id);
        if (!wanted.equals(set)) {
            report(wanted);
        }
    }

    /**
     * Requests a change. RocketMQ has one thread for these changes, so it sends a request only after the response to
     * the previous request.
     */
    synchronized void report(Set<Long> wanted) {
        if (!wanted.equals(changes.peekLast())) {
            changes.add(wanted);
        }
        send();
    }

    private void send() {
        if (asked == null && !changes.isEmpty()) {
            asked = new Asked(broker.id, masterEpoch, setEpoch, changes.poll());
        }
    }

    synchronized void answer() {
        SyncStateSet answer = asked.answer;
        if (answer != null) {
            changeSyncStateSet(answer.getSyncStateSet(), answer.getSyncStateSetEpoch());
        }
        asked = null;
        send();
    }
}
