package subject;

import kafka.server.MetadataCache;
import kafka.server.ZkMetadataCache;
import org.apache.kafka.common.requests.UpdateMetadataRequest;

/** Where 2.8 differs from later releases. */
final class Api {
    private Api() { }

    static MetadataCache metadataCache(int broker, UpdateMetadataRequest brokers) {
        ZkMetadataCache cache = MetadataCache.zkMetadataCache(broker);
        cache.updateMetadata(0, brokers);
        return cache;
    }
}
