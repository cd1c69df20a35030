package subject;

import kafka.server.BrokerTopicStats;
import kafka.server.QuotaType;
import kafka.server.ReplicationQuotaManager;
import kafka.server.metadata.KRaftMetadataCache;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.config.ReplicationQuotaManagerConfig;

/** The builders of Kafka's controller that differ between 3.9 and 3.7. */
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

    /** Returns a quota without a limit. */
    static ReplicationQuotaManager quota(Metrics metrics, Time time, QuotaType type) {
        return new ReplicationQuotaManager(new ReplicationQuotaManagerConfig(Long.MAX_VALUE, 11, 1), metrics, type, time);
    }
}
