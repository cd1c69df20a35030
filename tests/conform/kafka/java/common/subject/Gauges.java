package subject;

import com.yammer.metrics.core.MetricsRegistry;
import java.util.List;

/**
 * The gauges of a process, which every broker has put into one registry and nobody takes out: those of a log directory
 * keep its log manager, and that the whole broker.
 */
final class Gauges {
    private static final List<String> REGISTRIES = List.of("org.apache.kafka.server.metrics.KafkaYammerMetrics",
            "kafka.metrics.KafkaYammerMetrics", "com.yammer.metrics.Metrics");

    private Gauges() { }

    /** Takes out all of them. */
    static void forget() {
        MetricsRegistry registry = registry();
        registry.allMetrics().keySet().forEach(registry::removeMetric);
    }

    private static MetricsRegistry registry() {
        for (String name : REGISTRIES) {
            try {
                return (MetricsRegistry) Class.forName(name).getMethod("defaultRegistry").invoke(null);
            } catch (ClassNotFoundException of) {
                continue;
            } catch (ReflectiveOperationException failed) {
                throw new IllegalStateException(failed);
            }
        }
        throw new IllegalStateException("none of " + REGISTRIES);
    }
}
