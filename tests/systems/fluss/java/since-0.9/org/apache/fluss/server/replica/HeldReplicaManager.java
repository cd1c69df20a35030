package org.apache.fluss.server.replica;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.fluss.cluster.Endpoint;
import org.apache.fluss.cluster.ServerType;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metrics.registry.NOPMetricRegistry;
import org.apache.fluss.record.MemoryLogRecords;
import org.apache.fluss.rpc.entity.FetchLogResultForBucket;
import org.apache.fluss.rpc.entity.ProduceLogResultForBucket;
import org.apache.fluss.rpc.gateway.CoordinatorGateway;
import org.apache.fluss.rpc.messages.FetchLogRequest;
import org.apache.fluss.server.coordinator.LakeCatalogDynamicLoader;
import org.apache.fluss.server.coordinator.MetadataManager;
import org.apache.fluss.server.log.FetchParams;
import org.apache.fluss.server.log.LogManager;
import org.apache.fluss.server.log.remote.RemoteLogManager;
import org.apache.fluss.server.metadata.ClusterMetadata;
import org.apache.fluss.server.metadata.ServerInfo;
import org.apache.fluss.server.metadata.TabletServerMetadataCache;
import org.apache.fluss.server.metrics.UserMetrics;
import org.apache.fluss.server.metrics.group.TabletServerMetricGroup;
import org.apache.fluss.server.replica.fetcher.HeldFetchers;
import org.apache.fluss.server.utils.ServerRpcMessageUtils;
import org.apache.fluss.server.zk.ZooKeeperClient;
import org.apache.fluss.utils.clock.Clock;
import org.apache.fluss.utils.concurrent.Scheduler;
import org.apache.fluss.utils.concurrent.ShutdownableThread;
import subject.Reflect;

/**
 * Fluss's ReplicaManager without running threads. The class is in Fluss's package, so that it can make package-private
 * methods public.
 */
public final class HeldReplicaManager extends ReplicaManager {
    private static final int NEVER_MS = Integer.MAX_VALUE;

    private final LogManager logs;
    private final HeldFetchers fetchers;

    public HeldReplicaManager(Configuration conf, Scheduler scheduler, ZooKeeperClient zooKeeper, int server,
            int servers, CoordinatorGateway coordinator, Clock clock) throws Exception {
        this(conf, scheduler, zooKeeper, server, servers, coordinator, clock,
                new TabletServerMetricGroup(NOPMetricRegistry.INSTANCE, "cluster", "rack", "host", server));
    }

    private HeldReplicaManager(Configuration conf, Scheduler scheduler, ZooKeeperClient zooKeeper, int server,
            int servers, CoordinatorGateway coordinator, Clock clock,
            TabletServerMetricGroup metrics) throws Exception {
        this(conf, scheduler, zooKeeper, server, servers, coordinator, clock, metrics,
                LogManager.create(conf, zooKeeper, scheduler, clock, metrics));
    }

    /**
     * The remote log manager has nothing to do, because log tiering is off. Its constructor would start threads, so it
     * is not called.
     */
    private HeldReplicaManager(Configuration conf, Scheduler scheduler, ZooKeeperClient zooKeeper, int server,
            int servers, CoordinatorGateway coordinator, Clock clock,
            TabletServerMetricGroup metrics, LogManager logManager) throws Exception {
        super(conf, scheduler, logManager, null, zooKeeper, server, metadata(zooKeeper, conf, servers), null, coordinator, null,
                error -> {
                    throw new IllegalStateException(error);
                },
                metrics, new UserMetrics(scheduler, NOPMetricRegistry.INSTANCE, metrics),
                Reflect.allocate(RemoteLogManager.class), clock, null);
        logs = logManager;
        fetchers = new HeldFetchers(conf, server, this);
        Reflect.set(this, ReplicaManager.class, "replicaFetcherManager", fetchers);
        for (String operations : new String[] {"delayedWriteManager", "delayedFetchLogManager"}) {
            Object manager = Reflect.get(this, ReplicaManager.class, operations);
            ShutdownableThread reaper = (ShutdownableThread) Reflect.get(manager, manager.getClass(), "expirationReaper");
            reaper.initiateShutdown();  // no operation expires, and nothing waits for this thread to end
            reaper.interrupt();
        }
        logs.startup();
    }

    /** Returns a metadata cache in which all servers are alive. */
    private static TabletServerMetadataCache metadata(ZooKeeperClient zooKeeper, Configuration conf, int servers) {
        TabletServerMetadataCache cache = new TabletServerMetadataCache(
                new MetadataManager(zooKeeper, conf, Reflect.allocate(LakeCatalogDynamicLoader.class)));
        cache.updateClusterMetadata(new ClusterMetadata(null, IntStream.range(0, servers).mapToObj(id -> new ServerInfo(
                id, "rack", Endpoint.fromListenersString("FLUSS://server:" + (id + 1)), ServerType.TABLET_SERVER))
                .collect(Collectors.toSet())));
        return cache;
    }

    /** Appends records as for a client's request. {@code told} receives the response. */
    public void append(TableBucket bucket, MemoryLogRecords records, int acks, Consumer<ProduceLogResultForBucket> told) {
        appendRecordsToLog(NEVER_MS, acks, Map.of(bucket, records), null, results -> told.accept(results.get(0)));
    }

    /** Serves a follower's fetch, which does not wait for records. */
    public FetchLogResultForBucket fetch(TableBucket bucket, FetchLogRequest request) {
        List<FetchLogResultForBucket> read = new ArrayList<>();
        fetchLogRecords(
                new FetchParams(request.getFollowerServerId(), request.getMaxBytes(), request.getMinBytes(), 0),
                ServerRpcMessageUtils.getFetchLogData(request), null, results -> read.add(results.get(bucket)));
        return read.get(0);
    }

    /**
     * Creates the fetcher thread for a leader, which sends its requests with {@code ask}. Returns one pass of its
     * doWork().
     */
    public Runnable holdFetcher(int leader, UnaryOperator<Object> ask) {
        return fetchers.hold(leader, ask);
    }

    /** Returns the thread's fetch status of the bucket; null if it has none. */
    public Object fetchStatus(int leader, TableBucket bucket) {
        return fetchers.status(leader, bucket);
    }

    /** Returns the replica; null if its server has not learned a decision yet. */
    public Replica replica(TableBucket bucket) {
        return getReplica(bucket) instanceof OnlineReplica online ? online.getReplica() : null;
    }

    public Set<Integer> isr(TableBucket bucket) {
        return new TreeSet<>(state(bucket).isr());
    }

    public Set<Integer> pendingIsr(TableBucket bucket) {
        return state(bucket) instanceof IsrState.PendingIsrState pending
                ? new TreeSet<>(pending.sentLeaderAndIsr().isr()) : Set.of();
    }

    public long remoteLeo(TableBucket bucket, int follower) {
        FollowerReplica known = follower(bucket, follower);
        return known == null ? -1 : known.stateSnapshot().getLogEndOffset();
    }

    public void takeForCaughtUp(TableBucket bucket, int follower, long now) {
        follower(bucket, follower).resetFollowerReplicaState(now, replica(bucket).getLocalLogEndOffset(), false, true);
    }

    public void maybeShrinkIsr(TableBucket bucket) {
        replica(bucket).maybeShrinkIsr();
    }

    /** Makes the leader check whether a follower may join the ISR, as it does at every fetch of that follower. */
    public void maybeExpandIsr(TableBucket bucket, int follower) {
        Reflect.call(replica(bucket), Replica.class, "maybeExpandISr", FollowerReplica.class, follower(bucket, follower));
    }

    public void checkpoint() {
        checkpointHighWatermarks();
    }

    public void flush(TableBucket bucket) {
        try {
            logs.getLog(bucket).orElseThrow().flush(true);
        } catch (java.io.IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }

    /**
     * Closes the log's files. This may write to the directory, which does not matter: the disk has been copied before.
     */
    public void abandon(TableBucket bucket) {
        logs.getLog(bucket).ifPresent(log -> log.close());
    }

    private IsrState state(TableBucket bucket) {
        return (IsrState) Reflect.get(replica(bucket), Replica.class, "isrState");
    }

    private FollowerReplica follower(TableBucket bucket, int follower) {
        Map<?, ?> known =
                (Map<?, ?>) Reflect.get(replica(bucket), Replica.class, "followerReplicasMap");
        return (FollowerReplica) known.get(follower);
    }
}
