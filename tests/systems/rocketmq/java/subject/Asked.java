package subject;

import java.util.Set;
import org.apache.rocketmq.remoting.protocol.body.SyncStateSet;

/** A master's request to change the SyncStateSet, with the state that the master knew when it sent the request. */
final class Asked {
    final long master;
    final int masterEpoch;
    final int setEpoch;
    final Set<Long> set;
    boolean isAnswered;
    SyncStateSet answer;  // null if the response is an error

    Asked(long master, int masterEpoch, int setEpoch, Set<Long> set) {
        this.master = master;
        this.masterEpoch = masterEpoch;
        this.setEpoch = setEpoch;
        this.set = set;
    }
}
