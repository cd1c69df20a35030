package org.apache.fluss.server.replica.fetcher;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.apache.fluss.cluster.ServerNode;
import org.apache.fluss.cluster.ServerType;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.rpc.entity.FetchLogResultForBucket;
import org.apache.fluss.rpc.messages.FetchLogRequest;

/** The leader's endpoint of a fetcher thread. Fluss's own endpoint builds the requests, and {@code ask} sends them. */
public final class HeldLeader implements LeaderEndpoint {
    private final ServerNode leader;
    private final UnaryOperator<Object> ask;
    private final RemoteLeaderEndpoint requests;

    HeldLeader(Configuration conf, int follower, int leader, UnaryOperator<Object> ask) {
        this.leader = new ServerNode(leader, "server", leader + 1, ServerType.TABLET_SERVER);
        this.ask = ask;
        requests = new RemoteLeaderEndpoint(conf, follower, this.leader, null);
    }

    @Override public ServerNode leaderNode() {
        return leader;
    }

    @Override public Optional<FetchLogRequest> buildFetchLogRequest(Map<TableBucket, BucketFetchStatus> buckets) {
        return requests.buildFetchLogRequest(buckets);
    }

    @Override public CompletableFuture<Map<TableBucket, FetchLogResultForBucket>> fetchLog(FetchLogRequest written) {
        FetchLogRequest request = new FetchLogRequest();
        request.parseFrom(written.toByteArray());  // serialized and parsed, as on the wire
        @SuppressWarnings("unchecked") Map<TableBucket, FetchLogResultForBucket> results =
                (Map<TableBucket, FetchLogResultForBucket>) ask.apply(request);
        return CompletableFuture.completedFuture(results);
    }

    @Override public CompletableFuture<Long> fetchLocalLogEndOffset(TableBucket bucket) {
        return offset(true);
    }

    @Override public CompletableFuture<Long> fetchLocalLogStartOffset(TableBucket bucket) {
        return offset(false);
    }

    @Override public void close() { }

    private CompletableFuture<Long> offset(boolean end) {
        return CompletableFuture.completedFuture((Long) ask.apply(new OffsetRequest(end)));
    }
}
