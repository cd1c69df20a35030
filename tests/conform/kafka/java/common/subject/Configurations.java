package subject;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;

/** The configurations of brokers. To check and parse one takes Kafka about as long as all else at a broker's start. */
final class Configurations {
    private static final Map<Properties, KafkaConfig> MADE = new HashMap<>();

    private Configurations() { }

    /** The configuration of a broker: the same one as before, if it has the same properties. */
    static KafkaConfig of(Host host) {
        return MADE.computeIfAbsent(host.release().properties(host), KafkaConfig::fromProps);
    }
}
