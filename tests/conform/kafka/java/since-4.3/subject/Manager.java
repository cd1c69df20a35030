package subject;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.requests.ProduceResponse.PartitionResponse;
import org.apache.kafka.server.network.BrokerEndPoint;
import kafka.log.LogManager;
import kafka.server.AlterPartitionManager;
import kafka.server.FailedPartitions;
import kafka.server.KafkaConfig;
import kafka.server.QuotaFactory.QuotaManagers;
import kafka.server.ReplicaFetcherManager;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import kafka.server.ReplicationQuotaManager;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.KRaftMetadataCache;
import org.apache.kafka.server.ActionQueue;
import org.apache.kafka.server.common.DirectoryEventHandler;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.config.ReplicationQuotaManagerConfig;
import org.apache.kafka.server.purgatory.DelayedOperation;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;
import org.apache.kafka.server.quota.QuotaType;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import scala.Function0;
import scala.Option;

/** Kafka's ReplicaManager without started fetcher threads. */
final class Manager extends ReplicaManager {
    private final Function0<Object> brokerEpoch;
    private Map<Integer, FetcherThread> threads;

    Manager(KafkaConfig config, Metrics metrics, Time time, FakeScheduler scheduler, LogManager logManager,
            KRaftMetadataCache metadataCache, FakeTimer timer, AlterPartitionManager isrChanges,
            Function0<Object> brokerEpoch) {
        super(config, metrics, time, scheduler, logManager, Option.empty(), quotas(metrics, time), metadataCache,
                new LogDirFailureChannel(1), isrChanges, new BrokerTopicStats(false),
                purgatory("Produce", config, new FakeTimer()), purgatory("Fetch", config, timer),
                purgatory("DeleteRecords", config, timer), purgatory("RemoteFetch", config, timer),
                purgatory("RemoteListOffsets", config, timer), purgatory("ShareFetch", config, timer), brokerEpoch,
                Option.empty(), DirectoryEventHandler.NOOP, new AtOnce());
        this.brokerEpoch = brokerEpoch;
    }

    /** The fetcher thread towards a leader; null if there never was one. */
    FetcherThread thread(int leader) {
        return threads().get(leader);
    }

    /**
     * Appends a producer's records, and completes the operations that wait for them, as KafkaApis does. {@code answered}
     * receives the response, at once or from the purgatory, where no request times out. Returns false if the broker
     * rejects the records.
     */
    boolean append(MemoryRecords records, int acks, Consumer<Errors> answered) {
        List<Errors> errors = new ArrayList<>();
        Consumer<Errors> told = answered.andThen(errors::add);
        appendRecords(0, (short) acks, false, AppendOrigin.CLIENT,
                Scala.map(Map.of(new TopicIdPartition(Quorum.TOPIC_ID, Partitions.THE_ONE), records)),
                Scala.<Map<TopicIdPartition, PartitionResponse>>consumer(
                        answers -> answers.values().forEach(answer -> told.accept(answer.error))),
                appendRecords$default$7(), appendRecords$default$8(), appendRecords$default$9(),
                appendRecords$default$10());
        tryCompleteActions();
        return errors.stream().allMatch(error -> error == Errors.NONE);
    }

    @Override public ReplicaFetcherManager createReplicaFetcherManager(
            Metrics metrics, Time time, ReplicationQuotaManager quota) {
        Function0<MetadataVersion> version = Scala.supplier(() -> ((KRaftMetadataCache) metadataCache()).metadataVersion());
        return new ReplicaFetcherManager(config(), this, metrics, time, quota, version, null) {
            @Override public ReplicaFetcherThread createFetcherThread(int id, BrokerEndPoint source) {
                FetcherThread thread = new FetcherThread(
                        source, config(), failedPartitions(), Manager.this, quota, version, brokerEpoch);
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
        return new QuotaManagers(null, null, null, null, quota(metrics, time, QuotaType.LEADER_REPLICATION),
                quota(metrics, time, QuotaType.FOLLOWER_REPLICATION),
                quota(metrics, time, QuotaType.ALTER_LOG_DIRS_REPLICATION), Optional.empty());
    }

    private static ReplicationQuotaManager quota(Metrics metrics, Time time, QuotaType type) {
        return new ReplicationQuotaManager(new ReplicationQuotaManagerConfig(Long.MAX_VALUE, 11, 1), metrics, type, time);
    }

    private static <T extends DelayedOperation> Option<DelayedOperationPurgatory<T>> purgatory(
            String name, KafkaConfig config, FakeTimer timer) {
        return Option.apply(new DelayedOperationPurgatory<>(name, timer, config.brokerId(), 1000, false, true));
    }

    /** Runs actions at once. Kafka runs them a little later, when it holds no lock. */
    private static final class AtOnce implements ActionQueue {
        @Override public void add(Runnable action) {
            action.run();
        }

        @Override public void tryCompleteActions() { }
    }
}
