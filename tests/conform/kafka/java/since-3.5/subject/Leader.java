package subject;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import kafka.server.QuotaFactory;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.ListOffsetsResponseData;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.OffsetForLeaderTopicResult;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.OffsetForLeaderTopicResultCollection;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.FileRecords.TimestampAndOffset;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.ListOffsetsRequest;
import org.apache.kafka.common.requests.ListOffsetsResponse;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochResponse;
import org.apache.kafka.storage.internals.log.FetchIsolation;
import org.apache.kafka.storage.internals.log.FetchParams;
import org.apache.kafka.storage.internals.log.FetchPartitionData;
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
        List<OffsetForLeaderTopicResult> results = Scala.list(
                manager.lastOffsetForLeaderEpoch(Scala.seq(new ArrayList<>(request.data().topics()))));
        boolean refused = results.get(0).partitions().get(0).errorCode() != Errors.NONE.code();
        OffsetForLeaderTopicResultCollection topics = new OffsetForLeaderTopicResultCollection();
        results.forEach(topics::add);
        return new Answer(new OffsetsForLeaderEpochResponse(
                new OffsetForLeaderEpochResponseData().setTopics(topics)), null, refused);
    }

    private Answer answer(FetchRequest request, FetchPartitionData data) {
        FetchResponseData.PartitionData partition = new FetchResponseData.PartitionData()
                .setPartitionIndex(Partitions.PARTITION).setErrorCode(data.error.code())
                .setHighWatermark(data.highWatermark).setLastStableOffset(data.highWatermark)
                .setLogStartOffset(data.logStartOffset).setRecords(Batches.copy(data.records));
        data.divergingEpoch.ifPresent(partition::setDivergingEpoch);
        LinkedHashMap<TopicIdPartition, FetchResponseData.PartitionData> partitions = new LinkedHashMap<>();
        partitions.put(new TopicIdPartition(Quorum.TOPIC_ID, Partitions.THE_ONE), partition);
        FetchResponse response = FetchResponse.of(Errors.NONE, 0, 0, partitions);
        return switch (data.error) {
            case NONE -> new Answer(response, null);
            case OFFSET_OUT_OF_RANGE -> new Answer(response, offsets(wanted(request).currentLeaderEpoch));
            default -> Answer.error(response);
        };
    }

    /**
     * Reads for a fetch. If there are no records, the fetch waits in the purgatory, and reads again when its wait ends.
     */
    private Runnable read(FetchRequest request, Consumer<FetchPartitionData> done) {
        FetchParams params = new FetchParams(request.version(), request.replicaId(), request.replicaEpoch(),
                request.maxWait(), request.minBytes(), request.maxBytes(), FetchIsolation.of(request), Optional.empty());
        TopicIdPartition partition = new TopicIdPartition(Quorum.TOPIC_ID, Partitions.THE_ONE);
        manager.fetchMessages(params, Scala.seq(List.of(new Tuple2<>(partition, wanted(request)))),
                QuotaFactory.UnboundedQuota$.MODULE$,
                Scala.<Seq<Tuple2<TopicIdPartition, FetchPartitionData>>>consumer(
                        results -> Scala.list(results).forEach(result -> done.accept(result._2()))));
        return timer.added();
    }

    private static FetchRequest.PartitionData wanted(FetchRequest request) {
        return request.fetchData(Map.of(Quorum.TOPIC_ID, Partitions.TOPIC)).values().iterator().next();
    }

    /** Returns the leader's responses, as of now, to the ListOffsets request that follows OFFSET_OUT_OF_RANGE. */
    private UnaryOperator<Object> offsets(Optional<Integer> epoch) {
        Map<Long, TimestampAndOffset> known = Map.of(
                ListOffsetsRequest.LATEST_TIMESTAMP, offset(ListOffsetsRequest.LATEST_TIMESTAMP, epoch),
                ListOffsetsRequest.EARLIEST_TIMESTAMP, offset(ListOffsetsRequest.EARLIEST_TIMESTAMP, epoch));
        return asked -> {
            ListOffsetsRequest request = (ListOffsetsRequest) asked;
            TimestampAndOffset found = known.get(request.topics().get(0).partitions().get(0).timestamp());
            int leaderEpoch = request.version() >= 4 ? found.leaderEpoch.orElse(-1) : -1;
            return new ListOffsetsResponse(new ListOffsetsResponseData().setTopics(List.of(
                    ListOffsetsResponse.singletonListOffsetsTopicResponse(Partitions.THE_ONE, Errors.NONE,
                            found.timestamp, found.offset, leaderEpoch))));
        };
    }

    private TimestampAndOffset offset(long timestamp, Optional<Integer> epoch) {
        return manager.fetchOffsetForTimestamp(Partitions.THE_ONE, timestamp, Option.empty(), epoch, true).get();
    }
}
