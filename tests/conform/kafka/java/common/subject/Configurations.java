package subject;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;

/**
 * Caches broker configurations. Kafka needs about as long to parse and check one as for the rest of a broker's start.
 */
final class Configurations {
    private static final Map<Properties, KafkaConfig> MADE = new HashMap<>();

    private Configurations() { }

    /** Returns the broker's configuration. Brokers with equal properties share one. */
    static KafkaConfig of(Host host) {
        return MADE.computeIfAbsent(host.release().properties(host), KafkaConfig::fromProps);
    }
}
