package subject;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import kafka.cluster.Replica;
import kafka.server.LogOffsetMetadata;
import kafka.server.MetadataCache;
import kafka.server.QuotaFactory.QuotaManagers;
import kafka.server.ReplicationQuotaManager;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.LeaderAndIsrRequest;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.UpdateMetadataRequest;

/** The parts of Kafka's API that differ between 1.1 and 2.0. */
final class Api {
    private Api() { }

    static QuotaManagers quotas(
            ReplicationQuotaManager leader, ReplicationQuotaManager follower, ReplicationQuotaManager alterLogDirs) {
        return new QuotaManagers(null, null, null, leader, follower, alterLogDirs);
    }

    static void update(MetadataCache cache, int controller, Set<UpdateMetadataRequest.Broker> brokers) {
        cache.updateCache(0, new UpdateMetadataRequest.Builder(
                ApiKeys.UPDATE_METADATA.latestVersion(), controller, 0, Map.of(), brokers).build());
    }

    static LeaderAndIsrRequest leaderAndIsr(int controller, LeaderAndIsrRequest.PartitionState state, Set<Node> nodes) {
        return new LeaderAndIsrRequest.Builder(ApiKeys.LEADER_AND_ISR.latestVersion(), controller, 0,
                Map.of(Partitions.THE_ONE, state), nodes).build();
    }

    static LogOffsetMetadata logEnd(Replica replica) {
        return replica.logEndOffset();
    }

    static AbstractResponse parsed(ApiKeys api, short version, Struct body) {
        return AbstractResponse.parseResponse(api, body);
    }

    static ClientResponse response(RequestHeader header, AbstractResponse body) {
        return new ClientResponse(header, null, "", 0, 0, false, null, body);
    }

    static FetchResponse emptyFetchResponse() {
        return new FetchResponse(Errors.NONE, new LinkedHashMap<>(), 0, 0);
    }

    static FetchResponse fetchResponse(Errors error, long highWatermark, long logStartOffset, MemoryRecords records) {
        LinkedHashMap<TopicPartition, FetchResponse.PartitionData> partitions = new LinkedHashMap<>();
        partitions.put(Partitions.THE_ONE, new FetchResponse.PartitionData(
                error, highWatermark, highWatermark, logStartOffset, null, records));
        return new FetchResponse(Errors.NONE, partitions, 0, 0);
    }
}
