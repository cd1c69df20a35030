package subject;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import kafka.api.LeaderAndIsr;
import kafka.server.AlterPartitionManager;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.message.AlterPartitionRequestData.BrokerState;
import org.apache.kafka.common.protocol.Errors;

/** Takes a leader's changes of the ISR to the gate (AlterPartition). */
final class IsrChanges implements AlterPartitionManager {
    private final int broker;
    private final Gate gate;

    IsrChanges(int broker, Gate gate) {
        this.broker = broker;
        this.gate = gate;
    }

    @Override public CompletableFuture<LeaderAndIsr> submit(
            TopicIdPartition partition, LeaderAndIsr proposed, int controllerEpoch) {
        CompletableFuture<LeaderAndIsr> answer = new CompletableFuture<>();
        gate.propose(broker, new Change(proposed, answer));
        return answer;
    }

    private record Change(LeaderAndIsr proposed, CompletableFuture<LeaderAndIsr> answer) implements Proposal {
        @Override public Set<Integer> isr() {
            return Scala.ints(proposed.isr());
        }

        @Override public Map<Integer, Long> brokerEpochs() {
            return Scala.list(proposed.isrWithBrokerEpoch()).stream()
                    .collect(Collectors.toMap(BrokerState::brokerId, BrokerState::brokerEpoch));
        }

        @Override public void accept(List<Integer> isr, int version) {
            List<BrokerState> members = isr.stream().map(id -> new BrokerState().setBrokerId(id)).toList();
            answer.complete(new LeaderAndIsr(proposed.leader(), proposed.leaderEpoch(), proposed.leaderRecoveryState(),
                    Scala.seq(members).toList(), version));
        }

        @Override public void revert() {
            answer.completeExceptionally(Errors.INELIGIBLE_REPLICA.exception());
        }

        @Override public void refuse() {
            answer.completeExceptionally(Errors.INVALID_UPDATE_VERSION.exception());
        }
    }
}
