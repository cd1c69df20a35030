package org.apache.fluss.server.replica.fetcher;

import org.apache.fluss.cluster.ServerNode;
import org.apache.fluss.cluster.ServerType;
import org.apache.fluss.config.ConfigOptions;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.PhysicalTablePath;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.record.LogRecord;
import org.apache.fluss.record.LogRecordBatch;
import org.apache.fluss.record.LogRecordReadContext;
import org.apache.fluss.rpc.RpcClient;
import org.apache.fluss.rpc.entity.FetchLogResultForBucket;
import org.apache.fluss.rpc.entity.ProduceLogResultForBucket;
import org.apache.fluss.rpc.metrics.TestingClientMetricGroup;
import org.apache.fluss.server.coordinator.LakeCatalogDynamicLoader;
import org.apache.fluss.server.coordinator.MetadataManager;
import org.apache.fluss.server.coordinator.TestCoordinatorGateway;
import org.apache.fluss.server.entity.FetchReqInfo;
import org.apache.fluss.server.entity.NotifyLeaderAndIsrData;
import org.apache.fluss.server.kv.snapshot.TestingCompletedKvSnapshotCommitter;
import org.apache.fluss.server.log.FetchParams;
import org.apache.fluss.server.log.LogManager;
import org.apache.fluss.server.metadata.TabletServerMetadataCache;
import org.apache.fluss.server.metrics.group.TestingMetricGroups;
import org.apache.fluss.server.replica.Replica;
import org.apache.fluss.server.replica.ReplicaManager;
import org.apache.fluss.server.zk.NOPErrorHandler;
import org.apache.fluss.server.zk.ZooKeeperClient;
import org.apache.fluss.server.zk.ZooKeeperExtension;
import org.apache.fluss.server.zk.data.LeaderAndIsr;
import org.apache.fluss.server.zk.data.TableRegistration;
import org.apache.fluss.testutils.common.AllCallbackWrapper;
import org.apache.fluss.utils.CloseableIterator;
import org.apache.fluss.utils.clock.ManualClock;
import org.apache.fluss.utils.concurrent.FlussScheduler;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.apache.fluss.record.TestData.DATA1_ROW_TYPE;
import static org.apache.fluss.record.TestData.DATA1_SCHEMA;
import static org.apache.fluss.record.TestData.DATA1_TABLE_DESCRIPTOR;
import static org.apache.fluss.record.TestData.DATA1_TABLE_ID;
import static org.apache.fluss.record.TestData.DATA1_TABLE_PATH;
import static org.apache.fluss.record.TestData.DEFAULT_SCHEMA_ID;
import static org.apache.fluss.server.coordinator.CoordinatorContext.INITIAL_COORDINATOR_EPOCH;
import static org.apache.fluss.server.metrics.group.TestingMetricGroups.USER_METRICS;
import static org.apache.fluss.testutils.DataTestUtils.genMemoryLogRecordsByObject;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Elections among in-sync replicas that lose or change records. The tests call each fetch themselves,
 * so no test depends on time. All replicas are in the ISR all the time, and no server fails.
 */
class FollowerOfPastEpochTest {
    @RegisterExtension
    public static final AllCallbackWrapper<ZooKeeperExtension> ZOO_KEEPER_EXTENSION_WRAPPER =
            new AllCallbackWrapper<>(new ZooKeeperExtension());

    private static ZooKeeperClient zkClient;

    private final TableBucket tb = new TableBucket(DATA1_TABLE_ID, 0);
    private final TableBucket otherBucket = new TableBucket(DATA1_TABLE_ID, 1);
    private final Map<Integer, ReplicaManager> servers = new HashMap<>();
    private final Map<Integer, LogManager> logManagers = new HashMap<>();
    private final Map<Integer, ReplicaFetcherThread> fetchers = new HashMap<>();
    private ExecutorService ioExecutor;
    private FlussScheduler scheduler;
    private @TempDir File tempDir;

    @BeforeAll
    static void baseBeforeAll() {
        zkClient =
                ZOO_KEEPER_EXTENSION_WRAPPER
                        .getCustomExtension()
                        .getZooKeeperClient(NOPErrorHandler.INSTANCE);
    }

    @BeforeEach
    void setup() throws Exception {
        ZOO_KEEPER_EXTENSION_WRAPPER.getCustomExtension().cleanupRoot();
        zkClient.registerTable(
                DATA1_TABLE_PATH,
                TableRegistration.newTable(DATA1_TABLE_ID, DATA1_TABLE_DESCRIPTOR));
        zkClient.registerFirstSchema(DATA1_TABLE_PATH, DATA1_SCHEMA);
        ioExecutor = Executors.newSingleThreadExecutor();
        scheduler = new FlussScheduler(1);
        scheduler.startup();
    }

    @AfterEach
    void tearDown() throws Exception {
        for (ReplicaManager server : servers.values()) {
            server.shutdown();
        }
        for (LogManager logManager : logManagers.values()) {
            logManager.shutdown();
        }
        scheduler.shutdown();
        ioExecutor.shutdown();
    }

    @Test
    void testFetchOfPastEpochAcknowledgesRecord() throws Exception {
        startServers(2);
        // Server 2 copies m0, and server 1 does not know this yet.
        append(1, "m0");
        fetch(2);

        // Server 2 is elected, and server 1 truncates m0. Server 1 is then elected again. Server 2
        // learns of neither election, and follows server 1 in leader epoch 0.
        notifyLeader(1, 2, 1);
        notifyLeader(1, 1, 2);

        // Server 2 fetches from offset 1. Server 1 counts this fetch as a copy of m1.
        CompletableFuture<List<ProduceLogResultForBucket>> m1 = append(1, "m1");
        fetch(2);
        assertThat(isAcknowledged(m1)).isTrue();

        notifyLeader(2, 2, 3);
        assertThat(log(2))
                .as("m1 is lost: acks=-1 acknowledged m1, and the new leader is in the ISR")
                .containsExactly("m1");
    }

    @Test
    void testFollowerKeepsRecordThatNewLeaderLacks() throws Exception {
        startServers(3);
        append(1, "m0");
        fetch(2);
        fetch(2);
        fetch(3);
        append(1, "m1");
        fetch(3); // server 3 has m1, and server 2 has not

        electServer2();

        append(2, "m2");
        fetch(1);
        fetch(1);
        fetch(3);
        assertThat(highWatermark(2)).isEqualTo(2);
        assertThat(log(3))
                .as("m2 is committed on leader 2, and server 3 in the ISR has another record")
                .isEqualTo(log(2));
    }

    @Test
    void testAcknowledgedRecordIsLostAfterDivergence() throws Exception {
        startServers(3);
        append(1, "m0");
        fetch(3); // server 3 has m0, and server 2 has not

        electServer2();

        CompletableFuture<List<ProduceLogResultForBucket>> m1 = append(2, "m1");
        fetch(1);
        fetch(1);
        fetch(3);
        assertThat(isAcknowledged(m1)).isTrue();

        notifyLeader(3, 3, 2);
        assertThat(log(3))
                .as("m1 is lost: acks=-1 acknowledged m1, and the new leader is in the ISR")
                .containsExactly("m1");
    }

    @Test
    void testConsumerReadsRecordThatIsThenLost() throws Exception {
        startServers(2);
        append(1, "m0");
        fetch(2);

        notifyLeader(2, 2, 1);
        assertThat(read(2)).containsExactly("m0"); // a consumer reads m0

        notifyLeader(1, 2, 1);
        notifyLeader(1, 1, 2);
        assertThat(log(1))
                .as("m0 is lost: a consumer read m0, and the new leader is in the ISR")
                .containsExactly("m0");
    }

    @Test
    void testFollowerAppendsLateResponseAtWrongOffset() throws Exception {
        startServers(2);
        // Server 2 also follows server 1 in another bucket, so server 2 keeps its fetcher thread.
        notifyLeader(otherBucket, 1, 1, 0);
        notifyLeader(otherBucket, 2, 1, 0);

        // Server 2 fetches from offset 0. The network delays the response, which contains m0.
        append(1, "m0");
        CompletableFuture<Void> network = new CompletableFuture<>();
        CompletableFuture<Void> fetch = fetch(2, network);

        // Server 2 is elected, and commits m1 at offset 0.
        notifyLeader(2, 2, 1);
        CompletableFuture<List<ProduceLogResultForBucket>> m1 = append(2, "m1");
        notifyLeader(1, 2, 1);
        fetch(1);
        fetch(1);
        assertThat(isAcknowledged(m1)).isTrue();

        // Server 1 is elected again, and server 2 follows server 1 from offset 1. Server 2 then
        // receives the response, whose record has offset 0.
        notifyLeader(1, 1, 2);
        notifyLeader(2, 1, 2);
        network.complete(null);
        fetch.get(10, TimeUnit.SECONDS);
        assertThat(log(2))
                .as("leader 1 does not have m0, and server 2 in the ISR has appended m0 after m1")
                .isEqualTo(log(1));
    }

    private void electServer2() throws Exception {
        for (int server = 1; server <= 3; server++) {
            notifyLeader(server, 2, 1);
        }
    }

    /** Server 1 leads, and the other servers follow. */
    private void startServers(int count) throws Exception {
        for (int server = 1; server <= count; server++) {
            servers.put(server, createReplicaManager(server));
        }
        for (int server = 1; server <= count; server++) {
            notifyLeader(server, 1, 0);
        }
    }

    private ReplicaManager createReplicaManager(int serverId) throws Exception {
        Configuration conf = new Configuration();
        conf.setString(ConfigOptions.DATA_DIR, tempDir.getAbsolutePath() + "/server-" + serverId);
        conf.set(ConfigOptions.LOG_REPLICA_MIN_IN_SYNC_REPLICAS_NUMBER, 2);
        ManualClock clock = new ManualClock(System.currentTimeMillis());
        LogManager logManager =
                LogManager.create(
                        conf,
                        zkClient,
                        scheduler,
                        clock,
                        TestingMetricGroups.TABLET_SERVER_METRICS);
        logManager.startup();
        logManagers.put(serverId, logManager);
        ReplicaManager replicaManager =
                new ReplicaManager(
                        conf,
                        scheduler,
                        logManager,
                        null,
                        zkClient,
                        serverId,
                        new TabletServerMetadataCache(
                                new MetadataManager(
                                        zkClient,
                                        conf,
                                        new LakeCatalogDynamicLoader(conf, null, true))),
                        RpcClient.create(conf, TestingClientMetricGroup.newInstance(), false),
                        new TestCoordinatorGateway(),
                        new TestingCompletedKvSnapshotCommitter(),
                        NOPErrorHandler.INSTANCE,
                        TestingMetricGroups.TABLET_SERVER_METRICS,
                        USER_METRICS,
                        clock,
                        ioExecutor);
        replicaManager.startup();
        return replicaManager;
    }

    /** A server learns who leads. A follower truncates its log, and follows its leader. */
    private void notifyLeader(int server, int leader, int leaderEpoch) throws Exception {
        notifyLeader(tb, server, leader, leaderEpoch);
    }

    private void notifyLeader(TableBucket bucket, int server, int leader, int leaderEpoch)
            throws Exception {
        if (server != leader) {
            // Fluss uses a fetcher that exists, so no fetcher thread starts.
            fetchers.put(
                    server,
                    servers.get(server)
                            .getReplicaFetcherManager()
                            .getFetcherThreadMap()
                            .computeIfAbsent(
                                    new ReplicaFetcherManager.ServerIdAndFetcherId(leader, 0),
                                    id -> createFetcher(server, leader)));
        }
        List<Integer> all =
                IntStream.rangeClosed(1, servers.size()).boxed().collect(Collectors.toList());
        servers.get(server)
                .becomeLeaderOrFollower(
                        INITIAL_COORDINATOR_EPOCH,
                        Collections.singletonList(
                                new NotifyLeaderAndIsrData(
                                        PhysicalTablePath.of(DATA1_TABLE_PATH),
                                        bucket,
                                        all,
                                        new LeaderAndIsr(
                                                leader,
                                                leaderEpoch,
                                                all,
                                                INITIAL_COORDINATOR_EPOCH,
                                                leaderEpoch))),
                        results ->
                                assertThat(results).allMatch(result -> result.succeeded()));
    }

    private ReplicaFetcherThread createFetcher(int server, int leader) {
        return new ReplicaFetcherThread(
                "test-fetcher-thread",
                servers.get(server),
                new SlowLeaderEndpoint(leader, servers.get(leader), server),
                0);
    }

    private CompletableFuture<List<ProduceLogResultForBucket>> append(int leader, String record)
            throws Exception {
        CompletableFuture<List<ProduceLogResultForBucket>> future = new CompletableFuture<>();
        servers.get(leader)
                .appendRecordsToLog(
                        Integer.MAX_VALUE,
                        -1,
                        Collections.singletonMap(
                                tb,
                                genMemoryLogRecordsByObject(
                                        Collections.singletonList(new Object[] {1, record}))),
                        null,
                        future::complete);
        return future;
    }

    private static boolean isAcknowledged(
            CompletableFuture<List<ProduceLogResultForBucket>> future) {
        return future.isDone() && future.join().get(0).succeeded();
    }

    /** A follower sends one fetch to its leader, and handles the response. */
    private void fetch(int follower) {
        fetchers.get(follower).doWork();
    }

    /** A leader serves a fetch. The follower gets the response when {@code network} completes. */
    private CompletableFuture<Void> fetch(int follower, CompletableFuture<Void> network)
            throws Exception {
        ReplicaFetcherThread fetcher = fetchers.get(follower);
        SlowLeaderEndpoint leader = (SlowLeaderEndpoint) fetcher.getLeader();
        leader.network = network;
        leader.served = new CompletableFuture<>();
        CompletableFuture<Void> fetch = CompletableFuture.runAsync(fetcher::doWork);
        leader.served.get(10, TimeUnit.SECONDS);
        return fetch;
    }

    private Replica replica(int server) {
        return servers.get(server).getReplicaOrException(tb);
    }

    private long highWatermark(int server) {
        return replica(server).getLogHighWatermark();
    }

    /** Returns the records that a consumer reads from a leader. */
    private List<String> read(int leader) {
        CompletableFuture<Map<TableBucket, FetchLogResultForBucket>> future =
                new CompletableFuture<>();
        servers.get(leader)
                .fetchLogRecords(
                        new FetchParams(-1, Integer.MAX_VALUE),
                        Collections.singletonMap(
                                tb, new FetchReqInfo(DATA1_TABLE_ID, 0L, Integer.MAX_VALUE)),
                        null,
                        future::complete);
        return values(future.join().get(tb).recordsOrEmpty().batches(), replica(leader));
    }

    /** Returns all records in a server's log. */
    private List<String> log(int server) throws Exception {
        return values(
                replica(server)
                        .getLogTablet()
                        .logSegments()
                        .get(0)
                        .getFileLogRecords()
                        .batches(),
                replica(server));
    }

    private static List<String> values(Iterable<LogRecordBatch> batches, Replica replica) {
        List<String> values = new ArrayList<>();
        try (LogRecordReadContext context =
                LogRecordReadContext.createArrowReadContext(
                        DATA1_ROW_TYPE, DEFAULT_SCHEMA_ID, replica.getSchemaGetter())) {
            for (LogRecordBatch batch : batches) {
                try (CloseableIterator<LogRecord> records = batch.records(context)) {
                    records.forEachRemaining(
                            record -> values.add(record.getRow().getString(1).toString()));
                }
            }
        }
        return values;
    }

    /** The leader in the same process, with a network that can delay responses. */
    private static final class SlowLeaderEndpoint extends TestingLeaderEndpoint {
        private final int leader;
        private CompletableFuture<Void> served = new CompletableFuture<>();
        private CompletableFuture<Void> network = CompletableFuture.completedFuture(null);

        private SlowLeaderEndpoint(int leader, ReplicaManager leaderManager, int follower) {
            super(
                    new Configuration(),
                    leaderManager,
                    new ServerNode(follower, "localhost", 1, ServerType.TABLET_SERVER, "rack"));
            this.leader = leader;
        }

        @Override
        public int leaderServerId() {
            return leader;
        }

        @Override
        public CompletableFuture<FetchData> fetchLog(FetchLogContext context) {
            CompletableFuture<FetchData> response = super.fetchLog(context);
            served.complete(null);
            return network.thenCompose(ignored -> response);
        }
    }
}
