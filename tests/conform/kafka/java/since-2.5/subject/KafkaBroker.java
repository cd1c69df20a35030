package subject;

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
import kafka.server.KafkaConfig;
import kafka.server.KafkaServer$;
import kafka.server.LogDirFailureChannel;
import kafka.server.MetadataCache;
import kafka.server.epoch.EpochEntry;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.message.LeaderAndIsrRequestData.LeaderAndIsrPartitionState;
import org.apache.kafka.common.message.UpdateMetadataRequestData.UpdateMetadataBroker;
import org.apache.kafka.common.message.UpdateMetadataRequestData.UpdateMetadataEndpoint;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.requests.LeaderAndIsrRequest;
import org.apache.kafka.common.requests.UpdateMetadataRequest;
import org.apache.kafka.common.security.auth.SecurityProtocol;

/** A broker of Kafka 2.5 to 2.7. */
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
        manager = new Manager(config, metrics, time, scheduler, logs, metadata(config), timer,
                host);
        leader = new Leader(manager, timer);
    }

    private MetadataCache metadata(KafkaConfig config) {
        MetadataCache cache = new MetadataCache(id);
        List<UpdateMetadataBroker> brokers = IntStream.range(0, settings.replicas()).mapToObj(each ->
                new UpdateMetadataBroker().setId(each).setEndpoints(List.of(new UpdateMetadataEndpoint()
                        .setHost("broker").setPort(each + 1)
                        .setListener(ListenerName.forSecurityProtocol(SecurityProtocol.PLAINTEXT).value())
                        .setSecurityProtocol(SecurityProtocol.PLAINTEXT.id)))).toList();
        cache.updateMetadata(0, new UpdateMetadataRequest.Builder(ApiKeys.UPDATE_METADATA.latestVersion(), CONTROLLER,
                0, 0, List.of(), brokers).build());
        return cache;
    }

    @Override public void learn(Decision decision, List<Object> records) {
        LeaderAndIsrPartitionState state = new LeaderAndIsrPartitionState()
                .setTopicName(Partitions.TOPIC).setPartitionIndex(Partitions.PARTITION).setControllerEpoch(0)
                .setLeader(decision.leader()).setLeaderEpoch(decision.epoch()).setIsr(decision.isr())
                .setZkVersion(decision.version()).setReplicas(IntStream.range(0, settings.replicas()).boxed().toList());
        List<Node> nodes = IntStream.range(0, settings.replicas())
                .mapToObj(each -> new Node(each, "broker", each + 1)).toList();
        manager.becomeLeaderOrFollower(0, new LeaderAndIsrRequest.Builder(ApiKeys.LEADER_AND_ISR.latestVersion(),
                CONTROLLER, 0, 0, List.of(state), nodes).build(), Scala.ignore());
        scheduler.runDue();
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
        return IsrProposals.without(partition(), () -> leader.serve(request, answered));
    }

    /**
     * Makes the leader propose to remove one follower only. A leader removes all lagging followers, so this method
     * marks the others as caught up just now.
     */
    @Override public void proposeShrink(int follower) {
        for (kafka.cluster.Replica other : Scala.list(partition().remoteReplicas())) {
            if (other.brokerId() != follower && committedIsr().contains(other.brokerId())) {
                other.resetLastCaughtUpTime(log().logEndOffset(), time.milliseconds(), time.milliseconds());
            }
        }
        partition().maybeShrinkIsr();
    }

    @Override public void proposeExpand(int follower) {
        kafka.cluster.Replica known = partition().getReplica(follower).get();
        Api.noteFetch(partition(), known, time.milliseconds());
    }

    @Override public Set<Integer> pendingIsr() {
        return IsrProposals.pending(partition());
    }

    @Override public long remoteLeo(int follower) {
        kafka.cluster.Replica known = partition().getReplica(follower).getOrElse(Scala.supplier(() -> null));
        return known == null ? -1 : known.logEndOffsetMetadata().messageOffset();
    }

    @Override public void checkpoint() {
        manager.checkpointHighWatermarks();
    }

    @Override public void flush() {
        log().flush();
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

    private static List<List<Long>> epochs(Log log) {
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
        return manager.nonOfflinePartition(Partitions.THE_ONE).getOrElse(Scala.supplier(() -> null));
    }

    private Log log() {
        return logs.getLog(Partitions.THE_ONE, false).getOrElse(Scala.supplier(() -> null));
    }
}
