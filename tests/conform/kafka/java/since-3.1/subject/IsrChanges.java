package subject;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import kafka.api.LeaderAndIsr;
import kafka.server.AlterIsrManager;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;

/** Passes a leader's ISR changes to the gate (KIP-497). */
final class IsrChanges implements AlterIsrManager {
    private final int broker;
    private final Gate gate;

    IsrChanges(int broker, Gate gate, Supplier<Set<Integer>> committed) {
        this.broker = broker;
        this.gate = gate;
    }

    @Override public CompletableFuture<LeaderAndIsr> submit(
            TopicPartition partition, LeaderAndIsr proposed, int controllerEpoch) {
        CompletableFuture<LeaderAndIsr> answer = new CompletableFuture<>();
        gate.propose(broker, new Change(proposed, answer));
        return answer;
    }

    @Override public void start() { }

    @Override public void shutdown() { }

    private record Change(LeaderAndIsr proposed, CompletableFuture<LeaderAndIsr> answer) implements Proposal {
        @Override public Set<Integer> isr() {
            return Scala.ints(proposed.isr());
        }

        @Override public int version() {
            return proposed.zkVersion();
        }

        @Override public int epoch() {
            return proposed.leaderEpoch();
        }

        @Override public void accept(Decision made) {
            answer.complete(new LeaderAndIsr(proposed.leader(), made.epoch(), Scala.ints(made.isr()), made.version()));
        }

        /**
         * Withdraws the change with the error that the manager of 3.1 returns while another change is in flight
         * (Partition.handleAlterIsrError).
         */
        @Override public void revert() {
            answer.completeExceptionally(Errors.OPERATION_NOT_ATTEMPTED.exception());
        }

        /**
         * Responds with an error. Partition submits the change again, and the gate reverts that, so the submission
         * fails (Partition.submitAlterIsr).
         */
        @Override public void fail(short error) {
            answer.completeExceptionally(Errors.forCode(error).exception());
        }

        @Override public void refuse() {
            answer.completeExceptionally(Errors.INVALID_UPDATE_VERSION.exception());
        }
    }
}
