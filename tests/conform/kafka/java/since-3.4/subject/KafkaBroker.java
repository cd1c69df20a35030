package subject;

import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.function.Consumer;
import kafka.cluster.Partition;
import kafka.cluster.ReplicaState;
import kafka.log.CleanerConfig;
import kafka.log.ClientRecordDeletion$;
import kafka.log.LogConfig;
import kafka.log.LogManager;
import kafka.log.ProducerStateManagerConfig;
import kafka.log.UnifiedLog;
import kafka.server.BrokerTopicStats;
import kafka.server.KafkaConfig;
import kafka.server.LogDirFailureChannel;
import kafka.server.epoch.EpochEntry;
import kafka.server.metadata.KRaftMetadataCache;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.server.common.MetadataVersion;

/** A broker of Kafka 3.4 under KRaft. */
final class KafkaBroker implements Broker {
    static final boolean IS_RAFT = true;

    private final int id;
    private final FakeTime time;
    private final FakeScheduler scheduler = new FakeScheduler();
    private final Disk disk;
    private final Metrics metrics;
    private final Metadata metadata;
    private final LogManager logs;
    private final Manager manager;
    private final Leader leader;
    private final byte magic;

    KafkaBroker(Host host) {
        id = host.id();
        time = host.time();
        disk = host.disk();
        KafkaConfig config = Configurations.of(host);
        LogConfig logConfig = new LogConfig(LogConfig.extractLogConfigMap(config),
                scala.collection.immutable.Set$.MODULE$.empty());
        magic = host.release().magic();
        MetadataVersion version = metadataVersion(host.release());
        metrics = new Metrics(time);
        logs = new LogManager(Scala.seq(List.of(disk.directory().toFile())), Scala.seq(List.of()),
                resource -> new Properties(), logConfig, new CleanerConfig(1, 1, 1, 1, 1, 1, 1, false, "MD5"), 1,
                Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE,
                new ProducerStateManagerConfig(Integer.MAX_VALUE), Integer.MAX_VALUE, version, scheduler,
                new BrokerTopicStats(), new LogDirFailureChannel(1), time, true);
        logs.startup(scala.collection.immutable.Set$.MODULE$.empty());
        KRaftMetadataCache cache = new KRaftMetadataCache(id);
        metadata = new Metadata(cache);
        FakeTimer timer = new FakeTimer();
        manager = new Manager(config, metrics, time, scheduler, logs, cache, timer, new IsrChanges(id, host));
        leader = new Leader(manager, timer);
    }

    /** Returns the metadata.version of the cluster. */
    static MetadataVersion metadataVersion(Release release) {
        return release.interBrokerProtocol() == null
                ? MetadataVersion.latest() : MetadataVersion.fromVersionString(release.interBrokerProtocol());
    }

    @Override public void learn(Decision decision, List<Object> records) {
        MetadataDelta delta = metadata.learn(records);
        if (delta.topicsDelta() != null) {
            manager.applyDelta(delta.topicsDelta(), metadata.image());
        }
        scheduler.runDue();
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

    @Override public void proposeShrink(int follower) {
        IsrProposals.shrink(partition(), follower, committedIsr(), log().logEndOffset(), time.milliseconds());
    }

    @Override public void proposeExpand(int follower) {
        kafka.cluster.Replica replica = partition().getReplica(follower).get();
        ReplicaState known = replica.stateSnapshot();
        partition().updateFollowerFetchState(replica, known.logEndOffsetMetadata(), known.logStartOffset(),
                time.milliseconds(), Long.MAX_VALUE);
    }

    @Override public Set<Integer> pendingIsr() {
        return IsrProposals.pending(partition());
    }

    @Override public long remoteLeo(int follower) {
        kafka.cluster.Replica known = partition().getReplica(follower).getOrElse(Scala.supplier(() -> null));
        return known == null ? -1 : known.stateSnapshot().logEndOffsetMetadata().messageOffset();
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
        return LogStarts.raise(() -> log().maybeIncrementLogStartOffset(offset, ClientRecordDeletion$.MODULE$));
    }

    @Override public void checkpointLogStart() {
        logs.checkpointLogStartOffsets();
    }

    @Override public void abandon() {
        if (log() != null) {
            log().closeHandlers();
        }
        DirectoryLocks.release(logs);
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
        if (log.leaderEpochCache().isEmpty()) {
            return null;
        }
        return Scala.<EpochEntry>list(log.leaderEpochCache().get().epochEntries()).stream()
                .map(entry -> List.of((long) entry.epoch(), entry.startOffset())).toList();
    }

    private boolean isTruncating(Partition partition) {
        FetcherThread thread = manager.thread(Scala.intOr(partition.leaderReplicaIdOpt(), Decision.NOBODY));
        return thread != null && thread.fetchState(Partitions.THE_ONE).exists(
                new scala.runtime.AbstractFunction1<>() {
                    @Override public Object apply(kafka.server.PartitionFetchState state) {
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
        return logs.getLog(Partitions.THE_ONE, false).getOrElse(Scala.supplier(() -> null));
    }
}
