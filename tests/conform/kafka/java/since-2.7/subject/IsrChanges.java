package subject;

import java.util.Set;
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

    IsrChanges(int broker, Gate gate) {
        this.broker = broker;
        this.gate = gate;
    }

    @Override public boolean enqueue(AlterIsrItem item) {
        if (isAnsweringAnError) {
            return false;
        }
        gate.propose(broker, new Change(this, item));
        return true;
    }

    @Override public void clearPending(TopicPartition partition) { }

    @Override public void start() { }

    private record Change(IsrChanges changes, AlterIsrItem item) implements Proposal {
        @Override public Set<Integer> isr() {
            return Scala.ints(item.leaderAndIsr().isr());
        }

        @Override public int version() {
            return item.leaderAndIsr().zkVersion();
        }

        @Override public int epoch() {
            return item.leaderAndIsr().leaderEpoch();
        }

        @Override public void accept(Decision made) {
            answer(new Right<>(new LeaderAndIsr(
                    item.leaderAndIsr().leader(), made.epoch(), Scala.ints(made.isr()), made.version())));
        }

        /** Throws. Leaders of 2.7 cannot withdraw a proposal, so IsrProposals.without prevents unwanted proposals. */
        @Override public void revert() {
            throw new IllegalStateException("the leader proposed " + isr() + ", but the event names another change");
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
