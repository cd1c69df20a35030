package subject;

import java.util.List;

/**
 * The controller's decision for a leader epoch. A change of the ISR within the epoch replaces it by a new version.
 *
 * @param leader a broker id, or {@link #NOBODY}
 * @param version the version of the partition's state: zkVersion, or the partition epoch since KIP-497
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
