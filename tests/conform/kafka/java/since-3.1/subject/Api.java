package subject;

import kafka.server.MetadataCache;
import kafka.server.metadata.ZkMetadataCache;
import org.apache.kafka.common.requests.UpdateMetadataRequest;

/** The parts of Kafka's API that differ between 3.1 and 3.0. */
final class Api {
    private Api() { }

    static MetadataCache metadataCache(int broker, UpdateMetadataRequest brokers) {
        ZkMetadataCache cache = MetadataCache.zkMetadataCache(broker);
        cache.updateMetadata(0, brokers);
        return cache;
    }
}
