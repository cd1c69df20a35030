package subject;

import kafka.server.BrokerTopicStats;
import kafka.server.metadata.KRaftMetadataCache;
import org.apache.kafka.server.common.MetadataVersion;

/** The parts of Kafka's API that differ between 3.5 and later releases. */
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
}
