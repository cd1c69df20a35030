package subject;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import kafka.server.FetchPartitionData;
import kafka.server.QuotaFactory;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.common.requests.EpochEndOffset;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochResponse;
import scala.Option;
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
     * Serves a request. The response, which may be an error, follows at once, or when a fetch no longer waits in the
     * purgatory. Running the returned Runnable ends that wait.
     */
    Runnable serve(Object request, Consumer<Answer> answered) {
        if (request instanceof FetchRequest fetch) {
            return read(fetch, data -> answered.accept(answer(fetch, data)));
        }
        answered.accept(epochEnd((OffsetsForLeaderEpochRequest) request));
        return () -> { };
    }

    private Answer epochEnd(OffsetsForLeaderEpochRequest request) {
        Map<TopicPartition, EpochEndOffset> ends = Scala.map(
                manager.lastOffsetForLeaderEpoch(Scala.map(request.epochsByTopicPartition())));
        boolean refused = ends.get(Partitions.THE_ONE).hasError();
        return new Answer(new OffsetsForLeaderEpochResponse(ends), null, refused);
    }

    private Answer answer(FetchRequest request, FetchPartitionData data) {
        LinkedHashMap<TopicPartition, FetchResponse.PartitionData<Records>> partitions = new LinkedHashMap<>();
        partitions.put(Partitions.THE_ONE, new FetchResponse.PartitionData<>(
                data.error(), data.highWatermark(), data.highWatermark(), data.logStartOffset(), Optional.empty(),
                null, Batches.copy(data.records())));
        FetchResponse<Records> response = new FetchResponse<>(Errors.NONE, partitions, 0, 0);
        return switch (data.error()) {
            case NONE -> new Answer(response, null);
            case OFFSET_OUT_OF_RANGE -> new Answer(response, Offsets.of(manager, request));
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
                        results -> Scala.list(results).forEach(result -> done.accept(result._2()))),
                request.isolationLevel(), Option.empty());
        return timer.added();
    }
}
