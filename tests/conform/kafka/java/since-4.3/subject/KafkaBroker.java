package subject;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import kafka.cluster.Partition;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.metadata.KRaftMetadataCache;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.partition.PendingPartitionChange;
import org.apache.kafka.server.replica.ReplicaState;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogStartOffsetIncrementReason;
import org.apache.kafka.storage.internals.log.UnifiedLog;

/** A broker of Kafka 4.3 and 4.4. */
final class KafkaBroker implements Broker {
    static final boolean IS_RAFT = true;

    private final int id;
    private final FakeTime time;
    private final FakeScheduler scheduler = new FakeScheduler();
    private final Disk disk;
    private final Metrics metrics;
    private final Metadata metadata;
    private final Logs logs;
    private final Manager manager;
    private final Leader leader;
    private final byte magic;

    KafkaBroker(Host host) {
        id = host.id();
        long epoch = host.brokerEpochs()[id];
        time = host.time();
        disk = host.disk();
        KafkaConfig config = Configurations.of(host);
        LogConfig logConfig = new LogConfig(config.extractLogConfigMap());
        magic = host.release().magic();
        metrics = new Metrics(time);
        logs = new Logs(disk, logConfig, scheduler, time);
        KRaftMetadataCache cache = new KRaftMetadataCache(id, () -> KRaftVersion.KRAFT_VERSION_0);
        metadata = new Metadata(cache);
        FakeTimer timer = new FakeTimer();
        manager = new Manager(config, metrics, time, scheduler, logs.manager(), cache, timer,
                new IsrChanges(id, host), Scala.supplier(() -> epoch));
        leader = new Leader(manager, timer);
    }

    /** Returns the metadata.version of the cluster. */
    static MetadataVersion metadataVersion(Release release) {
        return release.interBrokerProtocol() == null ? MetadataVersion.latestProduction()
                : MetadataVersion.fromVersionString(release.interBrokerProtocol(), false);
    }

    @Override public void learn(Decision decision, List<Object> records) {
        MetadataDelta delta = metadata.learn(records);
        if (delta.topicsDelta() != null) {
            manager.applyDelta(delta.topicsDelta(), metadata.image());
        }
    }

    @Override public void note(List<Object> records) {
        metadata.learn(records);
    }

    @Override public boolean append(int record, boolean acksAll) {
        return partition() != null
                && manager.append(Batches.of(record, partition().getLeaderEpoch(), magic), acksAll ? -1 : 1, error -> { });
    }

    @Override public boolean append(Sent sent, Consumer<Reply> answered) {
        return partition() != null
                && manager.append(records(sent), -1, error -> answered.accept(Replies.of(error)));
    }

    @Override public boolean rejects(Sent sent) {
        return partition() != null && Sequences.reject(log().producerStateManager(), records(sent));
    }

    private MemoryRecords records(Sent sent) {
        return Batches.of(sent, partition().getLeaderEpoch(), magic);
    }

    @Override public Fetcher fetcher(int leader) {
        FetcherThread thread = manager.thread(leader);
        return thread == null ? null : thread.fetcher();
    }

    @Override public Runnable serve(Object request, Consumer<Answer> answered) {
        return leader.serve(request, answered);
    }

    /**
     * Makes the leader propose to remove one follower only. A leader removes all lagging followers, so this method
     * marks the others as caught up just now.
     */
    @Override public void proposeShrink(int follower) {
        for (org.apache.kafka.server.replica.Replica other : Scala.list(partition().remoteReplicas())) {
            if (other.brokerId() != follower && committedIsr().contains(other.brokerId())) {
                other.resetReplicaState(time.milliseconds(), log().logEndOffset(), false, true);
            }
        }
        partition().maybeShrinkIsr();
    }

    /**
     * Makes the leader check the follower's state again. This has no effect if the leader's last state of the follower
     * has no broker epoch, or has the broker epoch of a former process.
     */
    @Override public void proposeExpand(int follower) {
        org.apache.kafka.server.replica.Replica replica = partition().getReplica(follower).get();
        ReplicaState known = replica.stateSnapshot();
        if (known.brokerEpoch().isEmpty()) {
            return;
        }
        try {
            partition().updateFollowerFetchState(replica, known.logEndOffsetMetadata(), known.logStartOffset(),
                    time.milliseconds(), Long.MAX_VALUE, known.brokerEpoch().get());
        } catch (NotLeaderOrFollowerException staleBrokerEpoch) {
            // the broker epoch is old (KIP-903)
        }
    }

    @Override public Set<Integer> pendingIsr() {
        return partition().partitionState() instanceof PendingPartitionChange change
                ? new TreeSet<>(change.sentLeaderAndIsr().isr()) : Set.of();
    }

    @Override public long remoteLeo(int follower) {
        org.apache.kafka.server.replica.Replica known = partition().getReplica(follower).getOrElse(Scala.supplier(() -> null));
        return known == null ? -1 : known.stateSnapshot().logEndOffsetMetadata().messageOffset;
    }

    @Override public void finishScheduled() {
        scheduler.runDue();
    }

    @Override public void checkpoint() {
        manager.checkpointHighWatermarks();
    }

    @Override public void flush() {
        log().flush(true);
    }

    @Override public long logStart() {
        return log() == null ? 0 : log().logStartOffset();
    }

    @Override public boolean deleteBelow(long offset) {
        return LogStarts.raise(() ->
                log().maybeIncrementLogStartOffset(offset, LogStartOffsetIncrementReason.ClientRecordDeletion));
    }

    @Override public void checkpointLogStart() {
        logs.manager().checkpointLogStartOffsets();
    }

    @Override public void abandon() {
        logs.close();
        metrics.close();
    }

    @Override public Replica replica() {
        Partition partition = partition();
        UnifiedLog log = log();
        long leo = log == null ? 0 : log.logEndOffset();
        boolean leads = partition != null && partition.isLeader();
        return new Replica(
                leo,
                partition == null ? Math.min(disk.highWatermark(), leo) : log.highWatermark(),
                Batches.onDisk(disk),
                log == null ? List.of() : epochs(log),
                partition == null ? Decision.NOBODY : Scala.intOr(partition.leaderReplicaIdOpt(), Decision.NOBODY),
                partition == null ? -1 : partition.getLeaderEpoch(),
                leads ? committedIsr() : null,
                partition != null && isTruncating(partition));
    }

    private static List<List<Long>> epochs(UnifiedLog log) {
        return log.leaderEpochCache().epochEntries().stream()
                .map(entry -> List.of((long) entry.epoch(), entry.startOffset())).toList();
    }

    private boolean isTruncating(Partition partition) {
        FetcherThread thread = manager.thread(Scala.intOr(partition.leaderReplicaIdOpt(), Decision.NOBODY));
        return thread != null && thread.fetchState(Partitions.THE_ONE).exists(
                new scala.runtime.AbstractFunction1<>() {
                    @Override public Object apply(org.apache.kafka.server.PartitionFetchState state) {
                        return state.isTruncating();
                    }
                });
    }

    private Set<Integer> committedIsr() {
        return Scala.ints(partition().inSyncReplicaIds());
    }

    private Partition partition() {
        return manager.onlinePartition(Partitions.THE_ONE).getOrElse(Scala.supplier(() -> null));
    }

    private UnifiedLog log() {
        return logs.log();
    }
}
