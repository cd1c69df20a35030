package subject;

import com.yammer.metrics.core.MetricsRegistry;
import java.util.List;

/**
 * The metrics of all brokers of this process. Every broker adds its gauges to one shared registry, and no broker
 * removes them. The gauges of a log directory refer to its log manager, and so keep the whole broker in memory.
 */
final class Gauges {
    private static final List<String> REGISTRIES = List.of("org.apache.kafka.server.metrics.KafkaYammerMetrics",
            "kafka.metrics.KafkaYammerMetrics", "com.yammer.metrics.Metrics");

    private Gauges() { }

    /** Removes all metrics from the registry. */
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
        throw new IllegalStateException("found no metrics registry among " + REGISTRIES);
    }
}
