package subject;

import kafka.server.MetadataCache;
import kafka.server.ZkMetadataCache;
import org.apache.kafka.common.requests.UpdateMetadataRequest;

/** The parts of Kafka's API that differ between 2.8 and later releases. */
final class Api {
    private Api() { }

    static MetadataCache metadataCache(int broker, UpdateMetadataRequest brokers) {
        ZkMetadataCache cache = MetadataCache.zkMetadataCache(broker);
        cache.updateMetadata(0, brokers);
        return cache;
    }
}
