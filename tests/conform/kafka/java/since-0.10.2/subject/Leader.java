package subject;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import kafka.server.FetchPartitionData;
import kafka.server.QuotaFactory;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.ListOffsetRequest;
import org.apache.kafka.common.requests.ListOffsetResponse;
import scala.Tuple2;
import scala.collection.Seq;

/** Serves the requests of followers from a ReplicaManager, as KafkaApis does. */
final class Leader {
    private final ReplicaManager manager;
    private final FakeTimer timer;

    Leader(ReplicaManager manager, FakeTimer timer) {
        this.manager = manager;
        this.timer = timer;
    }

    /**
     * Serves a fetch. The response, which may be an error, follows at once, or when the fetch no longer waits in the
     * purgatory. Running the returned Runnable ends that wait.
     */
    Runnable serve(Object request, Consumer<Answer> answered) {
        FetchRequest fetch = (FetchRequest) request;
        return read(fetch, data -> answered.accept(answer(fetch, data)));
    }

    private Answer answer(FetchRequest fetch, FetchPartitionData data) {
        LinkedHashMap<TopicPartition, FetchResponse.PartitionData> partitions = new LinkedHashMap<>();
        partitions.put(Partitions.THE_ONE, new FetchResponse.PartitionData(
                data.error().code(), data.hw(), Batches.copy(data.records())));
        FetchResponse response = new FetchResponse(fetch.version(), partitions, 0);
        return switch (data.error()) {
            case NONE -> new Answer(response, null);
            case OFFSET_OUT_OF_RANGE -> new Answer(response, offsets());
            default -> Answer.error(response);
        };
    }

    /**
     * Reads for a fetch. If there are no records, the fetch waits in the purgatory, and reads again when its wait ends.
     */
    private Runnable read(FetchRequest request, Consumer<FetchPartitionData> done) {
        List<Tuple2<TopicPartition, FetchRequest.PartitionData>> wanted = new ArrayList<>();
        request.fetchData().forEach((partition, data) -> wanted.add(new Tuple2<>(partition, data)));
        manager.fetchMessages(request.maxWait(), request.replicaId(), request.minBytes(), request.maxBytes(),
                request.version() <= 2, Scala.seq(wanted), QuotaFactory.UnboundedQuota$.MODULE$,
                Scala.<Seq<Tuple2<TopicPartition, FetchPartitionData>>>consumer(
                        results -> Scala.list(results).forEach(result -> done.accept(result._2()))));
        return timer.added();
    }

    /** Returns the leader's responses, as of now, to the ListOffsets request that follows OFFSET_OUT_OF_RANGE. */
    private UnaryOperator<Object> offsets() {
        long latest = manager.getLeaderReplicaIfLocal(Partitions.THE_ONE).logEndOffset().messageOffset();
        return asked -> {
            ListOffsetRequest request = (ListOffsetRequest) asked;
            boolean wantsEarliest = request.partitionTimestamps().get(Partitions.THE_ONE).equals(
                    ListOffsetRequest.EARLIEST_TIMESTAMP);
            return new ListOffsetResponse(Map.of(Partitions.THE_ONE, new ListOffsetResponse.PartitionData(
                    Errors.NONE.code(), ListOffsetResponse.UNKNOWN_TIMESTAMP, wantsEarliest ? 0 : latest)), 1);
        };
    }
}
