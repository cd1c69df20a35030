package subject;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import kafka.api.LeaderAndIsr;
import kafka.server.AlterPartitionManager;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionRequestData.PartitionData;
import org.apache.kafka.common.message.AlterPartitionRequestData.TopicData;
import org.apache.kafka.common.protocol.Errors;

/** Passes a leader's ISR changes to the gate (AlterPartition). */
final class IsrChanges implements AlterPartitionManager {
    private final int broker;
    private final Host host;

    IsrChanges(int broker, Host host) {
        this.broker = broker;
        this.host = host;
    }

    @Override public CompletableFuture<LeaderAndIsr> submit(
            TopicIdPartition partition, LeaderAndIsr proposed, int controllerEpoch) {
        CompletableFuture<LeaderAndIsr> answer = new CompletableFuture<>();
        host.gate().propose(broker, new Change(proposed, answer, host.brokerEpochs()[broker]));
        return answer;
    }

    private record Change(LeaderAndIsr proposed, CompletableFuture<LeaderAndIsr> answer, long brokerEpoch)
            implements Proposal {
        @Override public Set<Integer> isr() {
            return Scala.ints(proposed.isr());
        }

        @Override public void accept(Decision made) {
            answer.complete(new LeaderAndIsr(proposed.leader(), made.epoch(), Scala.ints(made.isr()),
                    proposed.leaderRecoveryState(), made.version()));
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
                                    .setLeaderEpoch(proposed.leaderEpoch()).setNewIsr(List.copyOf(isr()))
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
