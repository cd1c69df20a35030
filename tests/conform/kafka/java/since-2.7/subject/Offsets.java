package subject;

import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.message.ListOffsetResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.ListOffsetRequest;
import org.apache.kafka.common.requests.ListOffsetResponse;
import scala.Option;

/** The leader's responses to the ListOffsets requests that follow OFFSET_OUT_OF_RANGE. */
final class Offsets {
    private Offsets() { }

    /** Returns responses with the log start offset and log end offset that the leader has now. */
    static UnaryOperator<Object> of(ReplicaManager manager, FetchRequest fetch) {
        Optional<Integer> epoch = fetch.fetchData().get(Partitions.THE_ONE).currentLeaderEpoch;
        long latest = offset(manager, ListOffsetRequest.LATEST_TIMESTAMP, epoch);
        long earliest = offset(manager, ListOffsetRequest.EARLIEST_TIMESTAMP, epoch);
        return asked -> {
            ListOffsetRequest request = (ListOffsetRequest) asked;
            boolean wantsEarliest = request.topics().get(0).partitions().get(0).timestamp()
                    == ListOffsetRequest.EARLIEST_TIMESTAMP;
            return new ListOffsetResponse(new ListOffsetResponseData().setTopics(List.of(
                    ListOffsetResponse.singletonListOffsetTopicResponse(Partitions.THE_ONE, Errors.NONE,
                            ListOffsetResponse.UNKNOWN_TIMESTAMP, wantsEarliest ? earliest : latest,
                            ListOffsetResponse.UNKNOWN_EPOCH))));
        };
    }

    private static long offset(ReplicaManager manager, long timestamp, Optional<Integer> epoch) {
        return manager.fetchOffsetForTimestamp(Partitions.THE_ONE, timestamp, Option.empty(), epoch, true).get().offset;
    }
}
