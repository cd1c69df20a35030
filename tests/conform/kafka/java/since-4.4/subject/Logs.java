package subject;

import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.storage.internals.log.CleanerConfig;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/** The log directory of a broker, with Kafka's LogManager. */
final class Logs {
    private final LogManager manager;

    Logs(Disk disk, LogConfig defaults, FakeScheduler scheduler, FakeTime time) {
        try {
            manager = new LogManager(List.of(disk.directory().toFile()), List.of(), resource -> new Properties(),
                    defaults, new CleanerConfig(false), 1, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE,
                    Long.MAX_VALUE, Integer.MAX_VALUE, new ProducerStateManagerConfig(Integer.MAX_VALUE, false),
                    Integer.MAX_VALUE, scheduler, new BrokerTopicStats(false), new LogDirFailureChannel(1), time, false,
                    0, null);
            manager.startup(Set.of(), log -> false);
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    LogManager manager() {
        return manager;
    }

    /** Returns the partition's log; null if there is none yet. */
    UnifiedLog log() {
        return manager.getLog(Partitions.THE_ONE, false).orElse(null);
    }

    /** Closes the log's files, and releases the locks of the directory. */
    void close() {
        if (log() != null) {
            log().closeQuietly();
        }
        DirectoryLocks.release(manager);
    }
}
