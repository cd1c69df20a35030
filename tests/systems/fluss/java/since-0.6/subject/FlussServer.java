package subject;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.fluss.config.ConfigOptions;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.config.MemorySize;
import org.apache.fluss.rpc.entity.FetchLogResultForBucket;
import org.apache.fluss.rpc.messages.FetchLogRequest;
import org.apache.fluss.rpc.protocol.Errors;
import org.apache.fluss.server.entity.NotifyLeaderAndIsrData;
import org.apache.fluss.server.replica.HeldReplicaManager;
import org.apache.fluss.server.replica.fetcher.OffsetRequest;
import org.apache.fluss.server.zk.data.LeaderAndIsr;

/**
 * A tablet server of Fluss with the bucket's replica. It has Fluss's LogManager and ReplicaManager, and the adapter
 * replaces the parts around them.
 */
final class FlussServer implements Broker {
    private static final int COORDINATOR_EPOCH = 0;

    private final int id;
    private final Settings settings;
    private final FakeTime time;
    private final Disk disk;
    private final Map<Integer, Fetcher> fetchers;
    private final HeldReplicaManager manager;
    private final Set<Integer> acknowledged = new HashSet<>();

    FlussServer(Host host) {
        id = host.id();
        settings = host.settings();
        time = host.time();
        disk = host.disk();
        Configuration conf = configuration(host);
        fetchers = IntStream.range(0, settings.replicas()).filter(leader -> leader != id).boxed().collect(
                Collectors.toMap(leader -> leader, leader -> new Fetcher(leader, request -> Map.of(), OffsetRequest.class::isInstance)));
        try {
            // The server considers all servers alive. The coordinator rejects an ISR with a dead member.
            manager = new HeldReplicaManager(conf, new NoScheduler(), Tables.create(), id, settings.replicas(),
                    Coordinator.gateway(id, host.gate()), time);
            fetchers.forEach((leader, fetcher) -> fetcher.works(
                    manager.holdFetcher(leader, fetcher::send),
                    () -> manager.fetchStatus(leader, Partitions.THE_ONE)));
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Returns the server's configuration. Settings that are missing here have no observable effect. */
    private static Configuration configuration(Host host) {
        Settings settings = host.settings();
        MemorySize fetched = new MemorySize((long) settings.recordsPerFetch() * Batches.SIZE);
        Configuration conf = new Configuration();
        conf.setString(ConfigOptions.DATA_DIR, host.disk().directory().toString());
        conf.setString(ConfigOptions.REMOTE_DATA_DIR, host.disk().directory() + "/remote");
        conf.set(ConfigOptions.LOG_REPLICA_MIN_IN_SYNC_REPLICAS_NUMBER, settings.minInsyncReplicas());
        conf.set(ConfigOptions.LOG_REPLICA_MAX_LAG_TIME, Duration.ofMillis(FakeTime.LAG_MS));
        conf.set(ConfigOptions.LOG_REPLICA_FETCHER_NUMBER, 1);
        conf.set(ConfigOptions.LOG_REPLICA_FETCH_BACKOFF_INTERVAL, Duration.ZERO);
        conf.set(ConfigOptions.LOG_REPLICA_FETCH_WAIT_MAX_TIME, Duration.ZERO);
        conf.set(ConfigOptions.LOG_REPLICA_FETCH_MAX_BYTES, fetched);
        conf.set(ConfigOptions.LOG_REPLICA_FETCH_MAX_BYTES_FOR_BUCKET, fetched);
        conf.set(ConfigOptions.REMOTE_LOG_TASK_INTERVAL_DURATION, Duration.ZERO);
        conf.set(ConfigOptions.LOG_INDEX_FILE_SIZE, new MemorySize(1000));
        return conf;
    }

    static LeaderAndIsr leaderAndIsr(Decision decision) {
        return new LeaderAndIsr(
                decision.leader(), decision.epoch(), decision.isr(), COORDINATOR_EPOCH, decision.version());
    }

    @Override public void learn(Decision decision, List<Object> records) {
        manager.becomeLeaderOrFollower(COORDINATOR_EPOCH, List.of(new NotifyLeaderAndIsrData(Partitions.PATH,
                Partitions.THE_ONE, IntStream.range(0, settings.replicas()).boxed().toList(), leaderAndIsr(decision))),
                results -> results.forEach(result -> {
                    if (result.failed()) {
                        throw new IllegalStateException(result.getErrorMessage());
                    }
                }));
    }

    /** Appends a record. The acknowledgement follows at once, or when DelayedWrite completes. */
    @Override public boolean append(int record, boolean acksAll) {
        org.apache.fluss.server.replica.Replica replica = manager.replica(Partitions.THE_ONE);
        if (replica == null) {
            return false;
        }
        long before = replica.getLocalLogEndOffset();
        manager.append(Partitions.THE_ONE, Batches.of(new Replica.Entry(record, replica.getLeaderEpoch())),
                acksAll ? -1 : 1, told -> answered(record, told.succeeded()));
        return replica.getLocalLogEndOffset() > before;
    }

    private void answered(int record, boolean isStored) {
        if (isStored && settings.awaitsAnswers()) {
            acknowledged.add(record);
        }
    }

    @Override public Set<Integer> acknowledged() {
        return acknowledged;
    }

    @Override public Fetcher fetcher(int leader) {
        return fetchers.get(leader);
    }

    @Override public Runnable serve(Object request, Consumer<Answer> answered) {
        answered.accept(answer(request));
        return () -> { };
    }

    /** Serves a fetch, as TabletService.fetchLog does. */
    private Answer answer(Object request) {
        FetchLogResultForBucket result = manager.fetch(Partitions.THE_ONE, (FetchLogRequest) request);
        if (result.succeeded()) {
            return new Answer(Map.of(Partitions.THE_ONE, new FetchLogResultForBucket(Partitions.THE_ONE,
                    Batches.copy(result.recordsOrEmpty()), result.getHighWatermark())), null);
        }
        boolean isOutOfRange = result.getError().error() == Errors.LOG_OFFSET_OUT_OF_RANGE_EXCEPTION;
        return new Answer(Map.of(Partitions.THE_ONE, result), isOutOfRange ? offsets() : null, !isOutOfRange);
    }

    /**
     * Returns the leader's responses, as of now, to the ListOffsets request that follows a fetch beyond the leader's
     * log.
     */
    private UnaryOperator<Object> offsets() {
        long start = manager.replica(Partitions.THE_ONE).getLocalLogStartOffset();
        long end = manager.replica(Partitions.THE_ONE).getLocalLogEndOffset();
        return asked -> ((OffsetRequest) asked).wantsEnd() ? end : start;
    }

    /**
     * Makes the leader propose to remove one follower only. A leader removes all lagging followers, so this method
     * marks the others as caught up just now.
     */
    @Override public void proposeShrink(int follower) {
        for (int other : manager.isr(Partitions.THE_ONE)) {
            if (other != id && other != follower) {
                manager.takeForCaughtUp(Partitions.THE_ONE, other, time.milliseconds());
            }
        }
        manager.maybeShrinkIsr(Partitions.THE_ONE);
    }

    @Override public void proposeExpand(int follower) {
        manager.maybeExpandIsr(Partitions.THE_ONE, follower);
    }

    @Override public Set<Integer> pendingIsr() {
        return manager.pendingIsr(Partitions.THE_ONE);
    }

    @Override public long remoteLeo(int follower) {
        return manager.remoteLeo(Partitions.THE_ONE, follower);
    }

    @Override public void checkpoint() {
        manager.checkpoint();
    }

    @Override public void flush() {
        manager.flush(Partitions.THE_ONE);
    }

    @Override public void abandon() {
        manager.abandon(Partitions.THE_ONE);
    }

    @Override public Replica replica() {
        org.apache.fluss.server.replica.Replica replica = manager.replica(Partitions.THE_ONE);
        List<Replica.Entry> log = Batches.onDisk(disk);
        if (replica == null) {
            return new Replica(log.size(), Math.min(disk.highWatermark(), log.size()), log, null, Decision.NOBODY, -1,
                    null, false);
        }
        Integer leader = replica.getLeaderId();
        return new Replica(
                replica.getLocalLogEndOffset(),
                replica.getLogHighWatermark(),
                log,
                null,  // Fluss has no leader epoch cache
                leader == null ? Decision.NOBODY : leader,
                replica.getLeaderEpoch(),
                replica.isLeader() ? new TreeSet<>(manager.isr(Partitions.THE_ONE)) : null,
                false);
    }
}
