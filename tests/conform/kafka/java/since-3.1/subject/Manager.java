package subject;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import kafka.cluster.BrokerEndPoint;
import kafka.log.AppendOrigin;
import kafka.log.LogManager;
import kafka.server.AlterIsrManager;
import kafka.server.BrokerTopicStats;
import kafka.server.DelayedOperation;
import kafka.server.DelayedOperationPurgatory;
import kafka.server.FailedPartitions;
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
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.requests.ProduceResponse.PartitionResponse;
import org.apache.kafka.common.utils.Time;
import scala.Option;

/** Kafka's ReplicaManager without started fetcher threads. */
final class Manager extends ReplicaManager {
    private Map<Integer, FetcherThread> threads;

    Manager(KafkaConfig config, Metrics metrics, Time time, FakeScheduler scheduler, LogManager logManager,
            MetadataCache metadataCache, FakeTimer timer, AlterIsrManager isrChanges) {
        super(config, metrics, time, scheduler, logManager, quotas(metrics, time), metadataCache,
                new LogDirFailureChannel(1), isrChanges, new BrokerTopicStats(), new AtomicBoolean(false), Option.empty(),
                purgatory("Produce", config, new FakeTimer()), purgatory("Fetch", config, timer),
                purgatory("DeleteRecords", config, timer), purgatory("ElectLeader", config, timer), Option.empty());
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
        appendRecords(0, (short) acks, false, AppendOrigin.Client$.MODULE$, Scala.map(Map.of(Partitions.THE_ONE, records)),
                Scala.<scala.collection.Map<TopicPartition, PartitionResponse>>consumer(
                        answers -> Scala.map(answers).values().forEach(answer -> told.accept(answer.error))),
                appendRecords$default$7(), appendRecords$default$8(), appendRecords$default$9());
        tryCompleteActions();
        return errors.stream().allMatch(error -> error == Errors.NONE);
    }

    @Override public ReplicaFetcherManager createReplicaFetcherManager(
            Metrics metrics, Time time, Option<String> prefix, ReplicationQuotaManager quota) {
        return new ReplicaFetcherManager(config(), this, metrics, time, prefix, quota) {
            @Override public ReplicaFetcherThread createFetcherThread(int id, BrokerEndPoint source) {
                FetcherThread thread = new FetcherThread(
                        source, config(), failedPartitions(), Manager.this, metrics, time, quota);
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
        return new QuotaManagers(null, null, null, null, quota(metrics, time, QuotaType.LeaderReplication$.MODULE$),
                quota(metrics, time, QuotaType.FollowerReplication$.MODULE$),
                quota(metrics, time, QuotaType.AlterLogDirsReplication$.MODULE$), Option.empty());
    }

    private static ReplicationQuotaManager quota(Metrics metrics, Time time, QuotaType type) {
        return new ReplicationQuotaManager(new ReplicationQuotaManagerConfig(Long.MAX_VALUE, 11, 1), metrics, type, time);
    }

    private static <T extends DelayedOperation> Option<DelayedOperationPurgatory<T>> purgatory(
            String name, KafkaConfig config, FakeTimer timer) {
        return Option.apply(new DelayedOperationPurgatory<>(name, timer, config.brokerId(), 1000, false, true));
    }
}
