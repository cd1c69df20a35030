package subject;

import kafka.cluster.Partition;
import kafka.cluster.Replica;

/** Where 2.5 differs from later releases. */
final class Api {
    private Api() { }

    /** The leader looks at a follower once more, as at a fetch from where it was. */
    static void noteFetch(Partition partition, Replica known, long now) {
        partition.updateFollowerFetchState(known.brokerId(), known.logEndOffsetMetadata(), known.logStartOffset(), now,
                Long.MAX_VALUE, known.lastSentHighWatermark());
    }
}
