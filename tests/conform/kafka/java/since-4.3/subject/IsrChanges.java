package subject;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import kafka.server.AlterPartitionManager;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionRequestData.BrokerState;
import org.apache.kafka.common.message.AlterPartitionRequestData.PartitionData;
import org.apache.kafka.common.message.AlterPartitionRequestData.TopicData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.metadata.LeaderAndIsr;
import org.apache.kafka.server.common.TopicIdPartition;

/** Passes a leader's ISR changes to the gate (AlterPartition). */
final class IsrChanges implements AlterPartitionManager {
    private final int broker;
    private final Host host;

    IsrChanges(int broker, Host host) {
        this.broker = broker;
        this.host = host;
    }

    @Override public CompletableFuture<LeaderAndIsr> submit(
            TopicIdPartition partition, LeaderAndIsr proposed) {
        CompletableFuture<LeaderAndIsr> answer = new CompletableFuture<>();
        host.gate().propose(broker, new Change(proposed, answer, host.brokerEpochs()[broker]));
        return answer;
    }

    private record Change(LeaderAndIsr proposed, CompletableFuture<LeaderAndIsr> answer, long brokerEpoch)
            implements Proposal {
        @Override public Set<Integer> isr() {
            return new TreeSet<>(proposed.isr());
        }

        @Override public Map<Integer, Long> brokerEpochs() {
            return proposed.isrWithBrokerEpoch().stream()
                    .collect(Collectors.toMap(BrokerState::brokerId, BrokerState::brokerEpoch));
        }

        @Override public void accept(Decision made) {
            List<BrokerState> members = made.isr().stream().map(id -> new BrokerState().setBrokerId(id)).toList();
            answer.complete(new LeaderAndIsr(proposed.leader(), made.epoch(), proposed.leaderRecoveryState(),
                    members, made.version()));
        }

        @Override public int version() {
            return proposed.partitionEpoch();
        }

        @Override public int epoch() {
            return proposed.leaderEpoch();
        }

        @Override public Object request() {
            return new AlterPartitionRequestData().setBrokerId(proposed.leader()).setBrokerEpoch(brokerEpoch)
                    .setTopics(List.of(new TopicData().setTopicId(Quorum.TOPIC_ID).setPartitions(List.of(
                            new PartitionData().setPartitionIndex(Partitions.PARTITION)
                                    .setLeaderEpoch(proposed.leaderEpoch()).setNewIsrWithEpochs(proposed.isrWithBrokerEpoch())
                                    .setLeaderRecoveryState(proposed.leaderRecoveryState().value())
                                    .setPartitionEpoch(proposed.partitionEpoch())))));
        }

        @Override public void fail(short error) {
            answer.completeExceptionally(Errors.forCode(error).exception());
        }

        @Override public void revert() {
            answer.completeExceptionally(Errors.INELIGIBLE_REPLICA.exception());
        }

        @Override public void refuse() {
            answer.completeExceptionally(Errors.INVALID_UPDATE_VERSION.exception());
        }
    }
}
