package subject;

import static java.util.stream.Collectors.toSet;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import kafka.cluster.Partition;
import kafka.log.CleanerConfig;
import kafka.log.Log;
import kafka.log.LogConfig;
import kafka.log.LogManager;
import kafka.server.BrokerState;
import kafka.server.BrokerTopicStats;
import kafka.server.FetchDataInfo;
import kafka.server.KafkaConfig;
import kafka.server.KafkaServer$;
import kafka.server.LogDirFailureChannel;
import kafka.server.LogOffsetMetadata;
import kafka.server.LogReadResult;
import kafka.server.MetadataCache;
import kafka.server.epoch.EpochEntry;
import kafka.server.epoch.LeaderEpochFileCache;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.NotLeaderForPartitionException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.requests.LeaderAndIsrRequest.PartitionState;
import org.apache.kafka.common.requests.UpdateMetadataRequest;
import org.apache.kafka.common.requests.UpdateMetadataRequest.EndPoint;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import scala.Option;

/** A broker of Kafka 1.1 to 2.3. */
final class KafkaBroker implements Broker {
    static final boolean IS_RAFT = false;
    private static final int CONTROLLER = 9;

    private final int id;
    private final Settings settings;
    private final FakeTime time;
    private final FakeScheduler scheduler = new FakeScheduler();
    private final Disk disk;
    private final Metrics metrics;
    private final LogManager logs;
    private final Manager manager;
    private final Leader leader;
    private final byte magic;

    KafkaBroker(Host host) {
        id = host.id();
        settings = host.settings();
        time = host.time();
        disk = host.disk();
        KafkaConfig config = Configurations.of(host);
        LogConfig logConfig = new LogConfig(KafkaServer$.MODULE$.copyKafkaConfigToLog(config),
                scala.collection.immutable.Set$.MODULE$.empty());
        magic = host.release().magic();
        metrics = new Metrics(time);
        logs = new LogManager(Scala.seq(List.of(disk.directory().toFile())), Scala.seq(List.of()),
                Scala.map(Map.of()), logConfig, new CleanerConfig(1, 1, 1, 1, 1, 1, 1, false, "MD5"), 1,
                Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE, scheduler,
                new BrokerState(), new BrokerTopicStats(), new LogDirFailureChannel(1), time);
        FakeTimer timer = new FakeTimer();
        manager = new Manager(config, metrics, time, scheduler, logs, metadata(), timer,
                new ZooKeeper(id, host.gate(), time));
        leader = new Leader(manager, timer);
    }

    private MetadataCache metadata() {
        MetadataCache cache = new MetadataCache(id);
        ListenerName listener = ListenerName.forSecurityProtocol(SecurityProtocol.PLAINTEXT);
        Set<UpdateMetadataRequest.Broker> brokers = everybody().stream().map(each -> new UpdateMetadataRequest.Broker(each, List.of(
                new EndPoint("broker", each + 1, SecurityProtocol.PLAINTEXT, listener)), null)).collect(toSet());
        Api.update(cache, CONTROLLER, brokers);
        return cache;
    }

    @Override public void learn(Decision decision, List<Object> records) {
        PartitionState state = new PartitionState(0, decision.leader(), decision.epoch(), decision.isr(),
                decision.version(), everybody(), false);
        Set<Node> nodes = everybody().stream().map(each -> new Node(each, "broker", each + 1)).collect(toSet());
        manager.becomeLeaderOrFollower(0, Api.leaderAndIsr(CONTROLLER, state, nodes), Scala.ignore());
        scheduler.runDue();
    }

    private List<Integer> everybody() {
        return IntStream.range(0, settings.replicas()).boxed().toList();
    }

    @Override public boolean append(int record, boolean acksAll) {
        Partition partition = partition();
        if (partition == null) {
            return false;
        }
        try {
            int epoch = partition.getLeaderEpoch();
            partition.appendRecordsToLeader(settings.retries() ? Batches.of(new Sent(record, 0, record), epoch, magic)
                    : Batches.of(record, epoch, magic), true, acksAll ? -1 : 1);
            return true;
        } catch (NotEnoughReplicasException | NotLeaderForPartitionException | OutOfOrderSequenceException refused) {
            return false;
        }
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
     * marks the others as caught up just now. It does the same for the follower if it has all the leader's records,
     * although a leader up to 2.3 removes such a follower if it does not fetch for a long time.
     */
    @Override public void proposeShrink(int follower) {
        for (kafka.cluster.Replica other : Scala.list(partition().inSyncReplicas())) {
            boolean isCaughtUp = Api.logEnd(other).messageOffset() == log().logEndOffset();
            if (other.brokerId() != id && (other.brokerId() != follower || isCaughtUp)) {
                other.resetLastCaughtUpTime(log().logEndOffset(), time.milliseconds(), time.milliseconds());
            }
        }
        partition().maybeShrinkIsr(FakeTime.LAG_MS);
    }

    @Override public void proposeExpand(int follower) {
        LogOffsetMetadata known = Api.logEnd(partition().getReplica(follower).get());
        FetchDataInfo fetched = new FetchDataInfo(known, MemoryRecords.EMPTY, false, Option.empty());
        partition().maybeExpandIsr(follower, new LogReadResult(fetched, 0, 0, Long.MAX_VALUE, 0, time.milliseconds(), 0,
                Option.empty(), Option.empty()));
    }

    @Override public long remoteLeo(int follower) {
        kafka.cluster.Replica known = partition().getReplica(follower).getOrElse(Scala.supplier(() -> null));
        return known == null ? -1 : Api.logEnd(known).messageOffset();
    }

    @Override public void checkpoint() {
        manager.checkpointHighWatermarks();
    }

    @Override public void flush() {
        log().flush();
    }

    @Override public long logStart() {
        return log() == null ? 0 : log().logStartOffset();
    }

    @Override public boolean deleteBelow(long offset) {
        return partition() != null
                && LogStarts.raise(() -> partition().getReplica(id).get().maybeIncrementLogStartOffset(offset));
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
        Log log = log();
        long leo = log == null ? 0 : log.logEndOffset();
        boolean leads = partition != null && partition.leaderReplicaIfLocal().isDefined();
        return new Replica(
                leo,
                partition == null ? Math.min(disk.highWatermark(), leo) : highWatermark(partition),
                Batches.onDisk(disk),
                log == null ? List.of() : epochs(log),
                partition == null ? Decision.NOBODY : Scala.intOr(partition.leaderReplicaIdOpt(), Decision.NOBODY),
                partition == null ? -1 : partition.getLeaderEpoch(),
                leads ? committedIsr() : null,
                partition != null && isTruncating(partition));
    }

    private long highWatermark(Partition partition) {
        return partition.getReplica(id).get().highWatermark().messageOffset();
    }

    private static List<List<Long>> epochs(Log log) {
        // since 2.1.1 an Option, which is empty for record formats without leader epochs
        Object cache = log.leaderEpochCache();
        if (cache instanceof Option<?> option) {
            if (option.isEmpty()) {
                return null;
            }
            cache = option.get();
        }
        return Scala.<EpochEntry>list(((LeaderEpochFileCache) cache).epochEntries()).stream()
                .map(entry -> List.of((long) entry.epoch(), entry.startOffset())).toList();
    }

    private boolean isTruncating(Partition partition) {
        FetcherThread thread = manager.thread(Scala.intOr(partition.leaderReplicaIdOpt(), Decision.NOBODY));
        return thread != null && thread.isTruncating();
    }

    private Set<Integer> committedIsr() {
        return Scala.list(partition().inSyncReplicas()).stream().map(kafka.cluster.Replica::brokerId).collect(toSet());
    }

    private Partition partition() {
        return manager.nonOfflinePartition(Partitions.THE_ONE).getOrElse(Scala.supplier(() -> null));
    }

    private Log log() {
        return logs.getLog(Partitions.THE_ONE, false).getOrElse(Scala.supplier(() -> null));
    }
}
