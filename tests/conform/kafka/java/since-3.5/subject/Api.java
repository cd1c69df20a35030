package subject;

import kafka.cluster.Partition;
import kafka.server.BrokerTopicStats;
import kafka.server.RequestLocal;
import kafka.server.metadata.KRaftMetadataCache;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.AppendOrigin;

/** Where 3.5 differs from later releases. */
final class Api {
    private Api() { }

    static BrokerTopicStats topicStats() {
        return new BrokerTopicStats();
    }

    static KRaftMetadataCache metadataCache(int broker) {
        return new KRaftMetadataCache(broker);
    }

    static MetadataVersion latestVersion() {
        return MetadataVersion.latest();
    }

    static void append(Partition partition, MemoryRecords records, int acks) {
        partition.appendRecordsToLeader(records, AppendOrigin.CLIENT, acks, RequestLocal.NoCaching());
    }
}
