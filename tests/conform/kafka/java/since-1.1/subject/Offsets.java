package subject;

import java.util.Map;
import java.util.function.UnaryOperator;
import kafka.cluster.Replica;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.ListOffsetRequest;
import org.apache.kafka.common.requests.ListOffsetResponse;

/** The leader's responses to the ListOffsets requests that follow OFFSET_OUT_OF_RANGE. */
final class Offsets {
    private Offsets() { }

    /** Returns responses with the log start offset and log end offset that the leader has now. */
    static UnaryOperator<Object> of(ReplicaManager manager, FetchRequest fetch) {
        Replica replica = manager.getLeaderReplicaIfLocal(Partitions.THE_ONE);
        long latest = replica.logEndOffset().messageOffset();
        long earliest = replica.logStartOffset();
        return asked -> {
            ListOffsetRequest request = (ListOffsetRequest) asked;
            boolean wantsEarliest = request.partitionTimestamps().get(Partitions.THE_ONE).equals(
                    ListOffsetRequest.EARLIEST_TIMESTAMP);
            return new ListOffsetResponse(Map.of(Partitions.THE_ONE, new ListOffsetResponse.PartitionData(
                    Errors.NONE, ListOffsetResponse.UNKNOWN_TIMESTAMP, wantsEarliest ? earliest : latest)));
        };
    }
}
