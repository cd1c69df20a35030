package subject;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import kafka.cluster.Partition;
import kafka.log.ClientRecordDeletion$;
import kafka.log.LogConfig;
import kafka.server.KafkaConfig;
import kafka.server.MetadataCache;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
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

/** A broker of Kafka 2.8 to 3.1 in ZooKeeper mode. */
final class KafkaBroker implements Broker {
    static final boolean IS_RAFT = false;
    private static final int CONTROLLER = 9;
    static final Uuid TOPIC_ID = new Uuid(1, 1);

    private final int id;
    private final Settings settings;
    private final FakeTime time;
    private final FakeScheduler scheduler = new FakeScheduler();
    private final Disk disk;
    private final Metrics metrics;
    private final Logs logs;
    private final Manager manager;
    private final Leader leader;
    private final byte magic;

    KafkaBroker(Host host) {
        id = host.id();
        settings = host.settings();
        time = host.time();
        disk = host.disk();
        KafkaConfig config = Configurations.of(host);
        LogConfig logConfig = new LogConfig(LogConfig.extractLogConfigMap(config),
                scala.collection.immutable.Set$.MODULE$.empty());
        magic = host.release().magic();
        metrics = new Metrics(time);
        logs = new Logs(disk, logConfig, scheduler, time);
        FakeTimer timer = new FakeTimer();
        manager = new Manager(config, metrics, time, scheduler, logs.manager(), metadata(), timer,
                new IsrChanges(id, host.gate(), this::committedIsr));
        leader = new Leader(manager, timer);
    }

    private MetadataCache metadata() {
        List<UpdateMetadataBroker> brokers = IntStream.range(0, settings.replicas()).mapToObj(each ->
                new UpdateMetadataBroker().setId(each).setEndpoints(List.of(new UpdateMetadataEndpoint()
                        .setHost("broker").setPort(each + 1)
                        .setListener(ListenerName.forSecurityProtocol(SecurityProtocol.PLAINTEXT).value())
                        .setSecurityProtocol(SecurityProtocol.PLAINTEXT.id)))).toList();
        return Api.metadataCache(id, new UpdateMetadataRequest.Builder(ApiKeys.UPDATE_METADATA.latestVersion(), CONTROLLER,
                0, 0, List.of(), brokers, Map.of()).build());
    }

    @Override public void learn(Decision decision, List<Object> records) {
        LeaderAndIsrPartitionState state = new LeaderAndIsrPartitionState()
                .setTopicName(Partitions.TOPIC).setPartitionIndex(Partitions.PARTITION).setControllerEpoch(0)
                .setLeader(decision.leader()).setLeaderEpoch(decision.epoch()).setIsr(decision.isr())
                .setZkVersion(decision.version()).setReplicas(IntStream.range(0, settings.replicas()).boxed().toList());
        List<Node> nodes = IntStream.range(0, settings.replicas())
                .mapToObj(each -> new Node(each, "broker", each + 1)).toList();
        manager.becomeLeaderOrFollower(0, new LeaderAndIsrRequest.Builder(ApiKeys.LEADER_AND_ISR.latestVersion(),
                CONTROLLER, 0, 0, List.of(state), Map.of(Partitions.TOPIC, TOPIC_ID), nodes).build(), Scala.ignore());
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
        return partition() != null && Sequences.reject(logs.producers(), records(sent));
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
        for (kafka.cluster.Replica other : Scala.list(partition().remoteReplicas())) {
            if (other.brokerId() != follower && committedIsr().contains(other.brokerId())) {
                other.resetLastCaughtUpTime(logs.end(), time.milliseconds(), time.milliseconds());
            }
        }
        partition().maybeShrinkIsr();
    }

    @Override public void proposeExpand(int follower) {
        kafka.cluster.Replica known = partition().getReplica(follower).get();
        partition().updateFollowerFetchState(follower, known.logEndOffsetMetadata(), known.logStartOffset(),
                time.milliseconds(), Long.MAX_VALUE);
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
        logs.flush();
    }

    @Override public long logStart() {
        return logs.log() == null ? 0 : logs.log().logStartOffset();
    }

    @Override public boolean deleteBelow(long offset) {
        return LogStarts.raise(() ->
                logs.log().maybeIncrementLogStartOffset(offset, ClientRecordDeletion$.MODULE$));
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
        long leo = logs.end();
        boolean leads = partition != null && partition.isLeader();
        return new Replica(
                leo,
                partition == null ? Math.min(disk.highWatermark(), leo) : logs.highWatermark(),
                Batches.onDisk(disk),
                logs.epochs(),
                partition == null ? Decision.NOBODY : Scala.intOr(partition.leaderReplicaIdOpt(), Decision.NOBODY),
                partition == null ? -1 : partition.getLeaderEpoch(),
                leads ? committedIsr() : null,
                partition != null && isTruncating(partition));
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
}
