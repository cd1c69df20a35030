package subject;

import static java.util.stream.Collectors.toSet;

import java.io.File;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import kafka.cluster.Partition;
import kafka.log.CleanerConfig;
import kafka.log.Log;
import kafka.log.LogConfig;
import kafka.log.LogManager;
import kafka.server.BrokerState;
import kafka.server.FetchDataInfo;
import kafka.server.KafkaConfig;
import kafka.server.KafkaServer$;
import kafka.server.LogOffsetMetadata;
import kafka.server.LogReadResult;
import kafka.server.MetadataCache;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.NotLeaderForPartitionException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.requests.LeaderAndIsrRequest;
import org.apache.kafka.common.requests.PartitionState;
import org.apache.kafka.common.requests.UpdateMetadataRequest;
import org.apache.kafka.common.requests.UpdateMetadataRequest.EndPoint;
import org.apache.kafka.common.protocol.SecurityProtocol;
import scala.Option;

/** A broker of Kafka 0.10.2. */
final class KafkaBroker implements Broker {
    static final boolean IS_RAFT = false;
    private static final int CONTROLLER = 9;

    private final int id;
    private final Settings settings;
    private final FakeTime time;
    private final FakeScheduler scheduler = new FakeScheduler();
    private final Disk disk;
    private final Metrics metrics;
    private final MetadataCache metadata;
    private final LogManager logs;
    private final Manager manager;
    private final Leader leader;

    KafkaBroker(Host host) {
        id = host.id();
        settings = host.settings();
        time = host.time();
        disk = host.disk();
        KafkaConfig config = configuration(host);
        Exits.install();
        LogConfig logConfig = new LogConfig(KafkaServer$.MODULE$.copyKafkaConfigToLog(config));
        metrics = new Metrics(time);
        logs = new LogManager(new File[] {disk.directory().toFile()}, Scala.map(Map.of()), logConfig,
                new CleanerConfig(1, 1, 1, 1, 1, 1, 1, false, "MD5"), 1, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE,
                scheduler, new BrokerState(), time);
        metadata = metadata();
        FakeTimer timer = new FakeTimer();
        manager = new Manager(config, metrics, time, scheduler, logs, timer, new ZooKeeper(id, host.gate()));
        leader = new Leader(manager, timer);
    }

    /**
     * Returns the configuration with log.dirs. Up to 0.11, a replica manager reads the directory of its high watermark
     * checkpoint from there.
     */
    private static KafkaConfig configuration(Host host) {
        Properties properties = host.release().properties(host);
        properties.put("log.dirs", host.disk().directory().toString());
        return KafkaConfig.fromProps(properties);
    }

    private MetadataCache metadata() {
        MetadataCache cache = new MetadataCache(id);
        ListenerName listener = ListenerName.forSecurityProtocol(SecurityProtocol.PLAINTEXT);
        Set<UpdateMetadataRequest.Broker> brokers = everybody().stream().map(each -> new UpdateMetadataRequest.Broker(each, List.of(
                new EndPoint("broker", each + 1, SecurityProtocol.PLAINTEXT, listener)), null)).collect(toSet());
        cache.updateCache(0, new UpdateMetadataRequest.Builder(CONTROLLER, 0, Map.of(), brokers).build());
        return cache;
    }

    @Override public void learn(Decision decision, List<Object> records) {
        PartitionState state = new PartitionState(0, decision.leader(), decision.epoch(), decision.isr(),
                decision.version(), Set.copyOf(everybody()));
        Set<Node> nodes = everybody().stream().map(each -> new Node(each, "broker", each + 1)).collect(toSet());
        manager.becomeLeaderOrFollower(0, new LeaderAndIsrRequest.Builder(
                CONTROLLER, 0, Map.of(Partitions.THE_ONE, state), nodes).build(), metadata, Scala.ignore());
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
            Replica.Entry entry = new Replica.Entry(record, partition.getLeaderEpoch());
            partition.appendRecordsToLeader(Batches.of(entry), acksAll ? -1 : 1);
            return true;
        } catch (NotEnoughReplicasException | NotLeaderForPartitionException refused) {
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
            boolean isCaughtUp = other.logEndOffset().messageOffset() == log().logEndOffset();
            if (other.brokerId() != id && (other.brokerId() != follower || isCaughtUp)) {
                other.resetLastCaughtUpTime(log().logEndOffset(), time.milliseconds(), time.milliseconds());
            }
        }
        partition().maybeShrinkIsr(FakeTime.LAG_MS);
    }

    @Override public void proposeExpand(int follower) {
        LogOffsetMetadata known = partition().getReplica(follower).get().logEndOffset();
        FetchDataInfo fetched = new FetchDataInfo(known, MemoryRecords.EMPTY, false);
        partition().maybeExpandIsr(follower, new LogReadResult(
                fetched, 0, Long.MAX_VALUE, time.milliseconds(), 0, Option.empty()));
    }

    @Override public long remoteLeo(int follower) {
        kafka.cluster.Replica known = partition().getReplica(follower).getOrElse(Scala.supplier(() -> null));
        return known == null ? -1 : known.logEndOffset().messageOffset();
    }

    @Override public void checkpoint() {
        manager.checkpointHighWatermarks();
    }

    @Override public void flush() {
        log().flush();
    }

    @Override public void abandon() {
        if (log() != null) {
            log().close();
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
                null,
                partition == null ? Decision.NOBODY : Scala.intOr(partition.leaderReplicaIdOpt(), Decision.NOBODY),
                partition == null ? -1 : partition.getLeaderEpoch(),
                leads ? committedIsr() : null,
                false);
    }

    private long highWatermark(Partition partition) {
        return partition.getReplica(id).get().highWatermark().messageOffset();
    }

    private Set<Integer> committedIsr() {
        return Scala.list(partition().inSyncReplicas()).stream().map(kafka.cluster.Replica::brokerId).collect(toSet());
    }

    private Partition partition() {
        return manager.getPartition(Partitions.THE_ONE).getOrElse(Scala.supplier(() -> null));
    }

    private Log log() {
        return logs.getLog(Partitions.THE_ONE).getOrElse(Scala.supplier(() -> null));
    }
}
