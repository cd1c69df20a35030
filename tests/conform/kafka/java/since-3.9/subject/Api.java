package subject;

import kafka.server.BrokerTopicStats;
import kafka.server.metadata.KRaftMetadataCache;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.MetadataVersion;

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
}
