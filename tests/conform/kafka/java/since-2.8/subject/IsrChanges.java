package subject;

import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import kafka.api.LeaderAndIsr;
import kafka.server.AlterIsrItem;
import kafka.server.AlterIsrManager;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import scala.util.Either;
import scala.util.Left;
import scala.util.Right;

/** Passes a leader's ISR changes to the gate (KIP-497). */
final class IsrChanges implements AlterIsrManager {
    private final int broker;
    private final Gate gate;
    private boolean isAnsweringAnError;
    private final Supplier<Set<Integer>> committed;

    /** @param committed returns the ISR that the leader has now */
    IsrChanges(int broker, Gate gate, Supplier<Set<Integer>> committed) {
        this.broker = broker;
        this.gate = gate;
        this.committed = committed;
    }

    @Override public boolean submit(AlterIsrItem item) {
        if (isAnsweringAnError) {
            return false;
        }
        gate.propose(broker, new Change(this, item, committed.get()));
        return true;
    }

    @Override public void clearPending(TopicPartition partition) { }

    private record Change(IsrChanges changes, AlterIsrItem item, Set<Integer> before) implements Proposal {
        @Override public Set<Integer> isr() {
            return Scala.ints(item.leaderAndIsr().isr());
        }

        @Override public void accept(Decision made) {
            accept(made.isr(), made.version());
        }

        private void accept(List<Integer> isr, int version) {
            int next = item.leaderAndIsr().zkVersion() + 1;
            LeaderAndIsr proposed = item.leaderAndIsr();
            answer(new Right<>(new LeaderAndIsr(
                    proposed.leader(), proposed.leaderEpoch(), Scala.ints(isr), Math.max(version, next))));
        }

        /**
         * Withdraws the change. No error makes a leader of this release withdraw its proposal, so this response accepts
         * the former ISR with a new version.
         */
        @Override public void revert() {
            accept(List.copyOf(before), 0);
        }

        /**
         * Responds with an error. Partition submits the change again, which fails because the earlier request is still
         * in the manager's map (AlterIsrManager).
         */
        @Override public void fail(short error) {
            changes.isAnsweringAnError = true;
            try {
                answer(new Left<>(Errors.forCode(error)));
            } catch (IllegalStateException refused) {
                // This exception also ends Kafka's handling of the response.
            } finally {
                changes.isAnsweringAnError = false;
            }
        }

        @Override public void refuse() {
            answer(new Left<>(Errors.INVALID_UPDATE_VERSION));
        }

        private void answer(Either<Errors, LeaderAndIsr> answer) {
            item.callback().apply(answer);
        }
    }
}
