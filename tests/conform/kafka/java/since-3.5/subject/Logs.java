package subject;

import java.util.List;
import java.util.Properties;
import kafka.log.LogManager;
import kafka.log.UnifiedLog;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.CleanerConfig;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;

/** The log directory of a broker, with Kafka's LogManager. */
final class Logs {
    private final LogManager manager;

    Logs(Disk disk, LogConfig defaults, MetadataVersion version, FakeScheduler scheduler, FakeTime time) {
        manager = new LogManager(Scala.seq(List.of(disk.directory().toFile())), Scala.seq(List.of()),
                resource -> new Properties(), defaults, new CleanerConfig(false), 1, Long.MAX_VALUE, Long.MAX_VALUE,
                Long.MAX_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE,
                new ProducerStateManagerConfig(Integer.MAX_VALUE), Integer.MAX_VALUE, version, scheduler,
                Api.topicStats(), new LogDirFailureChannel(1), time, true);
        manager.startup(scala.collection.immutable.Set$.MODULE$.empty());
    }

    LogManager manager() {
        return manager;
    }

    /** Returns the partition's log; null if there is none yet. */
    UnifiedLog log() {
        return manager.getLog(Partitions.THE_ONE, false).getOrElse(Scala.supplier(() -> null));
    }

    /** Closes the log's files, and releases the locks of the directory. */
    void close() {
        if (log() != null) {
            log().closeHandlers();
        }
        DirectoryLocks.release(manager);
    }
}
