package subject;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.apache.rocketmq.remoting.protocol.body.SyncStateSet;

/**
 * What a broker's ReplicasManager does when it hears of a decision, and when its SyncStateSet is to be another: ours, since
 * RocketMQ's needs a whole BrokerController. Its steps are those of changeToMaster, changeToSlave, changeSyncStateSet,
 * checkSyncStateSetAndDoReport and doReportSyncStateSetChanged, in their order.
 */
final class Roles {
    private final Broker broker;
    private final Deque<Set<Long>> changes = new ArrayDeque<>();  // that wait for those before them to be answered
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

    /** News of the SyncStateSet in an epoch that the broker knows. */
    void changeSyncStateSet(Set<Long> newSet, int epoch) {
        if (epoch > setEpoch) {
            setEpoch = epoch;
            set = new HashSet<>(newSet);
            broker.ha().setSyncStateSet(newSet);
        }
    }

    /** Looks for slaves that have lagged for too long, as a master does from time to time. */
    void check() {
        Set<Long> wanted = broker.ha().maybeShrinkSyncStateSet();
        wanted.add(broker.id);
        if (!wanted.equals(set)) {
            report(wanted);
        }
    }

    /** RocketMQ's service has one thread for its changes: it sends a request when it has the answer to the one before. */
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
