package subject;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.fluss.rpc.gateway.CoordinatorGateway;
import org.apache.fluss.rpc.messages.AdjustIsrRequest;
import org.apache.fluss.rpc.messages.AdjustIsrResponse;
import org.apache.fluss.rpc.protocol.ApiError;
import org.apache.fluss.rpc.protocol.Errors;
import org.apache.fluss.server.entity.AdjustIsrResultForBucket;
import org.apache.fluss.server.utils.RpcMessageUtils;
import org.apache.fluss.server.zk.data.LeaderAndIsr;

/** Passes a leader's AdjustIsr requests to the gate. */
final class Coordinator {
    private final int server;
    private final Gate gate;

    private Coordinator(int server, Gate gate) {
        this.server = server;
        this.gate = gate;
    }

    static CoordinatorGateway gateway(int server, Gate gate) {
        Coordinator coordinator = new Coordinator(server, gate);
        return (CoordinatorGateway) Proxy.newProxyInstance(CoordinatorGateway.class.getClassLoader(),
                new Class<?>[] {CoordinatorGateway.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("adjustIsr")) {
                        throw new UnsupportedOperationException(method.getName());
                    }
                    return coordinator.adjustIsr((AdjustIsrRequest) arguments[0]);
                });
    }

    private CompletableFuture<AdjustIsrResponse> adjustIsr(AdjustIsrRequest request) {
        LeaderAndIsr asked = RpcMessageUtils.getAdjustIsrData(request).get(Partitions.THE_ONE);
        Change change = new Change(asked, new CompletableFuture<>());
        gate.propose(server, change);
        return change.answer;
    }

    private record Change(LeaderAndIsr asked, CompletableFuture<AdjustIsrResponse> answer) implements Proposal {
        @Override public Set<Integer> isr() {
            return Set.copyOf(asked.isr());
        }

        @Override public int epoch() {
            return asked.leaderEpoch();
        }

        @Override public int version() {
            return asked.bucketEpoch();
        }

        @Override public void accept(Decision made) {
            answer(new AdjustIsrResultForBucket(Partitions.THE_ONE, FlussServer.leaderAndIsr(made)));
        }

        /**
         * Withdraws the change. Since 0.8 the error would be INELIGIBLE_REPLICA_EXCEPTION, which leaders handle like
         * this one.
         */
        @Override public void revert() {
            fail(Errors.OPERATION_NOT_ATTEMPTED_EXCEPTION);
        }

        @Override public void refuse() {
            fail(Errors.INVALID_UPDATE_VERSION_EXCEPTION);
        }

        private void fail(Errors error) {
            answer(new AdjustIsrResultForBucket(Partitions.THE_ONE, ApiError.fromThrowable(error.exception())));
        }

        private void answer(AdjustIsrResultForBucket result) {
            AdjustIsrResponse response = new AdjustIsrResponse();
            response.parseFrom(RpcMessageUtils.makeAdjustIsrResponse(List.of(result)).toByteArray());
            answer.complete(response);
        }
    }
}
