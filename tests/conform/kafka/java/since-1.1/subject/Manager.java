package subject;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import kafka.cluster.BrokerEndPoint;
import kafka.log.LogManager;
import kafka.server.BrokerTopicStats;
import kafka.server.DelayedOperation;
import kafka.server.DelayedOperationPurgatory;
import kafka.server.KafkaConfig;
import kafka.server.LogDirFailureChannel;
import kafka.server.MetadataCache;
import kafka.server.QuotaFactory.QuotaManagers;
import kafka.server.QuotaType;
import kafka.server.ReplicaFetcherManager;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import kafka.server.ReplicationQuotaManager;
import kafka.server.ReplicationQuotaManagerConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import scala.Option;

/** Kafka's ReplicaManager without started fetcher threads. */
final class Manager extends ReplicaManager {
    private Map<Integer, FetcherThread> threads;

    Manager(KafkaConfig config, Metrics metrics, Time time, FakeScheduler scheduler, LogManager logManager,
            MetadataCache metadataCache, FakeTimer timer, ZooKeeper zooKeeper) {
        super(config, metrics, time, zooKeeper, scheduler, logManager, new AtomicBoolean(false),
                quotas(metrics, time), new BrokerTopicStats(), metadataCache, new LogDirFailureChannel(1),
                purgatory("Produce", config, timer), purgatory("Fetch", config, timer),
                purgatory("DeleteRecords", config, timer), Option.empty());
    }

    /** The fetcher thread towards a leader; null if there never was one. */
    FetcherThread thread(int leader) {
        return threads().get(leader);
    }

    @Override public ReplicaFetcherManager createReplicaFetcherManager(
            Metrics metrics, Time time, Option<String> prefix, ReplicationQuotaManager quota) {
        return new ReplicaFetcherManager(config(), this, metrics, time, prefix, quota) {
            @Override public ReplicaFetcherThread createFetcherThread(int id, BrokerEndPoint source) {
                FetcherThread thread = new FetcherThread(
                        source, config(), Manager.this, metrics, time, quota);
                threads().put(source.id(), thread);
                return thread;
            }

            /** Does nothing. A real broker has other partitions too, so its fetcher threads are never idle. */
            @Override public void shutdownIdleFetcherThreads() { }
        };
    }

    /**
     * Returns the fetcher threads by leader. ReplicaManager's constructor calls methods of this class before the fields
     * of this class are initialized.
     */
    private Map<Integer, FetcherThread> threads() {
        if (threads == null) {
            threads = new HashMap<>();
        }
        return threads;
    }

    private static QuotaManagers quotas(Metrics metrics, Time time) {
        return Api.quotas(quota(metrics, time, QuotaType.LeaderReplication$.MODULE$),
                quota(metrics, time, QuotaType.FollowerReplication$.MODULE$),
                quota(metrics, time, QuotaType.AlterLogDirsReplication$.MODULE$));
    }

    private static ReplicationQuotaManager quota(Metrics metrics, Time time, QuotaType type) {
        return new ReplicationQuotaManager(new ReplicationQuotaManagerConfig(Long.MAX_VALUE, 11, 1), metrics, type, time);
    }

    private static <T extends DelayedOperation> DelayedOperationPurgatory<T> purgatory(
            String name, KafkaConfig config, FakeTimer timer) {
        return new DelayedOperationPurgatory<>(name, timer, config.brokerId(), 1000, false, true);
    }
}
