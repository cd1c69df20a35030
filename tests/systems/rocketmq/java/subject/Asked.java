package subject;

import java.util.Set;
import org.apache.rocketmq.remoting.protocol.body.SyncStateSet;

/** A master's request for another SyncStateSet: what it carries is what the master knows when it is sent. */
final class Asked {
    final long master;
    final int masterEpoch;
    final int setEpoch;
    final Set<Long> set;
    boolean isAnswered;
    SyncStateSet answer;  // null: an error

    Asked(long master, int masterEpoch, int setEpoch, Set<Long> set) {
        this.master = master;
        this.masterEpoch = masterEpoch;
        this.setEpoch = setEpoch;
        this.set = set;
    }
}
