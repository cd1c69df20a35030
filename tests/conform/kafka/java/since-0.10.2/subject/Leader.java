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

/** Answers the requests of followers from a ReplicaManager, as KafkaApis does. */
final class Leader {
    private final ReplicaManager manager;
    private final FakeTimer timer;

    Leader(ReplicaManager manager, FakeTimer timer) {
        this.manager = manager;
        this.timer = timer;
    }

    /**
     * Answers a fetch, maybe with an error: at once, or when it no longer waits in the purgatory. Running what is
     * returned ends its time there.
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

    /** A fetch for which there are no records waits in the purgatory, and reads again when its wait ends. */
    private Runnable read(FetchRequest request, Consumer<FetchPartitionData> done) {
        List<Tuple2<TopicPartition, FetchRequest.PartitionData>> wanted = new ArrayList<>();
        request.fetchData().forEach((partition, data) -> wanted.add(new Tuple2<>(partition, data)));
        manager.fetchMessages(request.maxWait(), request.replicaId(), request.minBytes(), request.maxBytes(),
                request.version() <= 2, Scala.seq(wanted), QuotaFactory.UnboundedQuota$.MODULE$,
                Scala.<Seq<Tuple2<TopicPartition, FetchPartitionData>>>consumer(
                        results -> Scala.list(results).forEach(result -> done.accept(result._2()))));
        return timer.added();
    }

    /** What the leader would answer now to the ListOffsets that follows on OFFSET_OUT_OF_RANGE. */
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
