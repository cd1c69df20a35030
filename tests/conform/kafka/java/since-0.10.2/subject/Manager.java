package subject;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import kafka.cluster.BrokerEndPoint;
import kafka.log.LogManager;
import kafka.server.AbstractFetcherThread;
import kafka.server.DelayedOperation;
import kafka.server.DelayedOperationPurgatory;
import kafka.server.KafkaConfig;
import kafka.server.QuotaType;
import kafka.server.ReplicaFetcherManager;
import kafka.server.ReplicaManager;
import kafka.server.ReplicationQuotaManager;
import kafka.server.ReplicationQuotaManagerConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import scala.Option;

/**
 * Kafka's ReplicaManager without started fetcher threads. Its constructor creates the fetcher manager and the
 * purgatories, which this class then replaces.
 */
final class Manager extends ReplicaManager {
    /**
     * Shuts purgatories down in the background. A shutdown waits until the purgatory's reaper wakes up, and many such
     * waits in sequence would take too long.
     */
    private static final ExecutorService BACKGROUND = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "purgatory-shutdown");
        thread.setDaemon(true);
        return thread;
    });

    private final Map<Integer, FetcherThread> threads = new HashMap<>();

    Manager(KafkaConfig config, Metrics metrics, Time time, FakeScheduler scheduler, LogManager logManager,
            FakeTimer timer, ZooKeeper zooKeeper) {
        super(config, metrics, time, zooKeeper, scheduler, logManager, new AtomicBoolean(false),
                quota(metrics, time), Option.empty());
        replacePurgatory("delayedProducePurgatory", delayedProducePurgatory(), timer);
        replacePurgatory("delayedFetchPurgatory", delayedFetchPurgatory(), timer);
        Reflect.set(this, ReplicaManager.class, "replicaFetcherManager", fetcherManager(metrics, time));
    }

    /** The fetcher thread towards a leader; null if there never was one. */
    FetcherThread thread(int leader) {
        return threads.get(leader);
    }

    private ReplicaFetcherManager fetcherManager(Metrics metrics, Time time) {
        ReplicationQuotaManager quota = quota(metrics, time);
        return new ReplicaFetcherManager(config(), this, metrics, time, Option.empty(), quota) {
            @Override public AbstractFetcherThread createFetcherThread(int id, BrokerEndPoint source) {
                FetcherThread thread = new FetcherThread(source, config(), Manager.this, metrics, time, quota);
                threads.put(source.id(), thread);
                return thread;
            }

            /** Does nothing. A real broker has other partitions too, so its fetcher threads are never idle. */
            @Override public void shutdownIdleFetcherThreads() { }
        };
    }

    /** Replaces a purgatory. The old one has a reaper thread that takes a while to stop. */
    private <T extends DelayedOperation> void replacePurgatory(
            String field, DelayedOperationPurgatory<T> old, FakeTimer timer) {
        BACKGROUND.execute(old::shutdown);
        Reflect.set(this, ReplicaManager.class, field,
                new DelayedOperationPurgatory<T>(field, timer, config().brokerId(), 1000, false));
    }

    private static ReplicationQuotaManager quota(Metrics metrics, Time time) {
        return new ReplicationQuotaManager(new ReplicationQuotaManagerConfig(Long.MAX_VALUE, 11, 1), metrics,
                QuotaType.FollowerReplication$.MODULE$, time);
    }
}
