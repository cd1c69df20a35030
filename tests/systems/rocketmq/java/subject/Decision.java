package subject;

import java.util.Set;

/** What the controller decided, as it tells a broker: who leads in which epoch, and the SyncStateSet and its epoch. */
record Decision(int epoch, long master, int setEpoch, Set<Long> set) {
    /** RocketMQ's first epoch is 1, the protocol's is 0. */
    static int shown(int epoch) {
        return epoch - 1;
    }
}
