package subject;

import java.util.LinkedHashMap;
import kafka.server.QuotaFactory.QuotaManagers;
import kafka.server.ReplicationQuotaManager;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.RequestHeader;

/** Where 1.1 differs from 2.0. */
final class Api {
    private Api() { }

    static QuotaManagers quotas(
            ReplicationQuotaManager leader, ReplicationQuotaManager follower, ReplicationQuotaManager alterLogDirs) {
        return new QuotaManagers(null, null, null, leader, follower, alterLogDirs);
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
