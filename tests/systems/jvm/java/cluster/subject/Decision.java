package subject;

import java.util.List;

/**
 * What the controller decided for a leader epoch. A change of the ISR within the epoch makes a new version of it.
 *
 * @param leader a broker id, {@link #NOBODY} for none
 * @param version the version of the partition's state: zkVersion, and since KIP-497 the partition epoch
 */
record Decision(int epoch, int leader, List<Integer> isr, int version) {
    static final int NOBODY = -1;

    boolean hasLeader() {
        return leader != NOBODY;
    }

    Decision withVersion(int newVersion) {
        return new Decision(epoch, leader, isr, newVersion);
    }

    Decision withIsr(List<Integer> members, int newVersion) {
        return new Decision(epoch, leader, members, newVersion);
    }
}
