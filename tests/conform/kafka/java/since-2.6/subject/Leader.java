package subject;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import kafka.server.FetchPartitionData;
import kafka.server.QuotaFactory;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.common.requests.EpochEndOffset;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochResponse;
import scala.Option;
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

    /** The answer, which may be an error. */
    Answer serve(Object request) {
        if (request instanceof FetchRequest fetch) {
            return fetch(fetch);
        }
        return epochEnd((OffsetsForLeaderEpochRequest) request);
    }

    private Answer epochEnd(OffsetsForLeaderEpochRequest request) {
        Map<TopicPartition, EpochEndOffset> ends = Scala.map(
                manager.lastOffsetForLeaderEpoch(Scala.map(request.epochsByTopicPartition())));
        boolean refused = ends.get(Partitions.THE_ONE).hasError();
        return new Answer(new OffsetsForLeaderEpochResponse(ends), null, refused);
    }

    private Answer fetch(FetchRequest request) {
        FetchPartitionData data = read(request);
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

    /** A fetch for which there are no records waits in the purgatory until its time is over, and then reads again. */
    private FetchPartitionData read(FetchRequest request) {
        List<Tuple2<TopicPartition, FetchRequest.PartitionData>> wanted = new ArrayList<>();
        request.fetchData().forEach((partition, data) -> wanted.add(new Tuple2<>(partition, data)));
        List<FetchPartitionData> read = new ArrayList<>();
        manager.fetchMessages(request.maxWait(), request.replicaId(), request.minBytes(), request.maxBytes(),
                request.version() <= 2, Scala.seq(wanted), QuotaFactory.UnboundedQuota$.MODULE$,
                Scala.<Seq<Tuple2<TopicPartition, FetchPartitionData>>>consumer(
                        results -> Scala.list(results).forEach(result -> read.add(result._2()))),
                request.isolationLevel(), Option.empty());
        timer.expireAll();
        return read.get(0);
    }
}
