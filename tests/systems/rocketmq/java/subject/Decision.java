package subject;

import java.util.Set;

/** The controller's decision, as a broker learns it: the epoch, the master, and the SyncStateSet with its epoch. */
record Decision(int epoch, long master, int setEpoch, Set<Long> set) {
    /** Converts an epoch. RocketMQ's first epoch is 1, and epochfuzz's is 0. */
    static int shown(int epoch) {
        return epoch - 1;
    }
}
