package subject;

import kafka.cluster.Partition;
import kafka.server.BrokerTopicStats;
import kafka.server.RequestLocal;
import kafka.server.metadata.KRaftMetadataCache;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/** Where 3.9 differs from 3.6. */
final class Api {
    private Api() { }

    static BrokerTopicStats topicStats() {
        return new BrokerTopicStats(false);
    }

    static KRaftMetadataCache metadataCache(int broker) {
        return new KRaftMetadataCache(broker, () -> KRaftVersion.KRAFT_VERSION_0);
    }

    static MetadataVersion latestVersion() {
        return MetadataVersion.latestProduction();
    }

    static void append(Partition partition, MemoryRecords records, int acks) {
        partition.appendRecordsToLeader(records, AppendOrigin.CLIENT, acks, RequestLocal.NoCaching(), VerificationGuard.SENTINEL);
    }
}
