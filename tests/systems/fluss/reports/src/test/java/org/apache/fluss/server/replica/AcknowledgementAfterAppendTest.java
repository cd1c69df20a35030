package org.apache.fluss.server.replica;

import org.apache.fluss.cluster.Endpoint;
import org.apache.fluss.cluster.ServerType;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.rpc.entity.ProduceLogResultForBucket;
import org.apache.fluss.rpc.gateway.CoordinatorGateway;
import org.apache.fluss.rpc.messages.AdjustIsrRequest;
import org.apache.fluss.rpc.messages.AdjustIsrResponse;
import org.apache.fluss.server.coordinator.TestCoordinatorGateway;
import org.apache.fluss.server.entity.FetchReqInfo;
import org.apache.fluss.server.log.FetchParams;
import org.apache.fluss.server.metadata.ClusterMetadata;
import org.apache.fluss.server.metadata.ServerInfo;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import static org.apache.fluss.record.TestData.DATA1_TABLE_ID;
import static org.apache.fluss.testutils.DataTestUtils.genMemoryLogRecordsByObject;
import static org.assertj.core.api.Assertions.assertThat;

/** An append that commits an earlier record. No step of the test depends on time. */
class AcknowledgementAfterAppendTest extends ReplicaTestBase {
    private final TableBucket tb = new TableBucket(DATA1_TABLE_ID, 1);
    private final CompletableFuture<Void> coordinatorResponds = new CompletableFuture<>();

    /** The coordinator responds to an ISR request later, when it knows that server 2 is down. */
    @Override
    protected ReplicaManager buildReplicaManager(CoordinatorGateway ignored) throws Exception {
        TestCoordinatorGateway coordinator =
                new TestCoordinatorGateway(zkClient) {
                    @Override
                    public CompletableFuture<AdjustIsrResponse> adjustIsr(
                            AdjustIsrRequest request) {
                        return coordinatorResponds.thenCompose(none -> super.adjustIsr(request));
                    }
                };
        coordinator.setShutdownTabletServers(Collections.singleton(2));
        return super.buildReplicaManager(coordinator);
    }

    @Test
    void testProducerGetsNoAcknowledgementOfCommittedRecord() throws Exception {
        makeLogTableAsLeader(tb, Arrays.asList(1, 2), Collections.singletonList(1), false);
        Replica leader = replicaManager.getReplicaOrException(tb);

        // Server 2 fetches, and leader 1 asks the coordinator to add server 2 to the ISR.
        fetchFromServer2();

        // Until the coordinator responds, leader 1 commits only records that server 2 has.
        CompletableFuture<List<ProduceLogResultForBucket>> m0 = append("m0");
        assertThat(isAcknowledged(m0)).isFalse();

        // Server 2 stops, and the coordinator rejects the request.
        serverMetadataCache.updateClusterMetadata(
                new ClusterMetadata(
                        null,
                        Collections.singleton(
                                new ServerInfo(
                                        1,
                                        "rack1",
                                        Endpoint.fromListenersString("CLIENT://localhost:90"),
                                        ServerType.TABLET_SERVER))));
        coordinatorResponds.complete(null);
        assertThat(leader.getIsr()).containsExactly(1);

        // The append of m1 raises the high watermark past m0 and m1.
        CompletableFuture<List<ProduceLogResultForBucket>> m1 = append("m1");
        assertThat(leader.getLogHighWatermark()).isEqualTo(2);
        assertThat(isAcknowledged(m1)).isTrue();
        assertThat(isAcknowledged(m0))
                .as("m0 is committed, and the producer of m0 gets no acknowledgement")
                .isTrue();
    }

    private void fetchFromServer2() {
        replicaManager.fetchLogRecords(
                new FetchParams(2, Integer.MAX_VALUE),
                Collections.singletonMap(
                        tb, new FetchReqInfo(tb.getTableId(), 0L, Integer.MAX_VALUE)),
                null,
                result -> {});
    }

    private CompletableFuture<List<ProduceLogResultForBucket>> append(String record)
            throws Exception {
        CompletableFuture<List<ProduceLogResultForBucket>> future = new CompletableFuture<>();
        replicaManager.appendRecordsToLog(
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
}
