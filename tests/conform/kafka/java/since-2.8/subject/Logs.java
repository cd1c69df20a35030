package subject;

import java.util.List;
import java.util.Properties;
import kafka.log.CleanerConfig;
import kafka.log.Log;
import kafka.log.LogConfig;
import kafka.log.LogManager;
import kafka.log.ProducerStateManager;
import kafka.server.BrokerTopicStats;
import kafka.server.LogDirFailureChannel;
import kafka.server.epoch.EpochEntry;

/** The log directory of a broker, with Kafka's LogManager. */
final class Logs {
    private final LogManager manager;

    Logs(Disk disk, LogConfig defaults, FakeScheduler scheduler, FakeTime time) {
        manager = new LogManager(Scala.seq(List.of(disk.directory().toFile())), Scala.seq(List.of()),
                topic -> new Properties(), defaults, new CleanerConfig(1, 1, 1, 1, 1, 1, 1, false, "MD5"), 1,
                Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE, scheduler,
                new BrokerTopicStats(), new LogDirFailureChannel(1), time, true);
        manager.startup(scala.collection.immutable.Set$.MODULE$.empty());
    }

    LogManager manager() {
        return manager;
    }

    /** Returns the log end offset; 0 if there is no log yet. */
    long end() {
        return log() == null ? 0 : log().logEndOffset();
    }

    ProducerStateManager producers() {
        return log().producerStateManager();
    }

    long highWatermark() {
        return log().highWatermark();
    }

    /** Returns the entries of the leader epoch cache; null if the record format has no leader epochs. */
    List<List<Long>> epochs() {
        if (log() == null) {
            return List.of();
        }
        if (log().leaderEpochCache().isEmpty()) {
            return null;
        }
        return Scala.<EpochEntry>list(log().leaderEpochCache().get().epochEntries()).stream()
                .map(entry -> List.of((long) entry.epoch(), entry.startOffset())).toList();
    }

    void flush() {
        log().flush();
    }

    /** Closes the log's files, and releases the locks of the directory. */
    void close() {
        if (log() != null) {
            log().closeHandlers();
        }
        DirectoryLocks.release(manager);
    }

    /** Returns the partition's log; null if there is none yet. */
    Log log() {
        return manager.getLog(Partitions.THE_ONE, false).getOrElse(Scala.supplier(() -> null));
    }
}
