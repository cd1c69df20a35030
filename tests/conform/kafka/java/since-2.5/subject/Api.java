package subject;

import kafka.cluster.Partition;
import kafka.cluster.Replica;

/** The parts of Kafka's API that differ between 2.5 and later releases. */
final class Api {
    private Api() { }

    /** Makes the leader check the follower's state again, as if the follower had sent its last fetch again. */
    static void noteFetch(Partition partition, Replica known, long now) {
        partition.updateFollowerFetchState(known.brokerId(), known.logEndOffsetMetadata(), known.logStartOffset(), now,
                Long.MAX_VALUE, known.lastSentHighWatermark());
    }
}
