package subject;

import kafka.cluster.Partition;
import kafka.log.AppendOrigin;
import kafka.server.MetadataCache;
import kafka.server.ZkMetadataCache;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.requests.UpdateMetadataRequest;

/** Where 2.8 differs from later releases. */
final class Api {
    private Api() { }

    static MetadataCache metadataCache(int broker, UpdateMetadataRequest brokers) {
        ZkMetadataCache cache = MetadataCache.zkMetadataCache(broker);
        cache.updateMetadata(0, brokers);
        return cache;
    }

    static void append(Partition partition, MemoryRecords records, int acks) {
        partition.appendRecordsToLeader(records, AppendOrigin.Client$.MODULE$, acks);
    }
}
