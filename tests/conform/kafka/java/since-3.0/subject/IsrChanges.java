package subject;

import java.util.Set;
import java.util.function.Supplier;
import kafka.api.LeaderAndIsr;
import kafka.server.AlterIsrItem;
import kafka.server.AlterIsrManager;
import org.apache.kafka.common.protocol.Errors;
import scala.util.Either;
import scala.util.Left;
import scala.util.Right;

/** Passes a leader's ISR changes to the gate (KIP-497). */
final class IsrChanges implements AlterIsrManager {
    private final int broker;
    private final Gate gate;

    IsrChanges(int broker, Gate gate, Supplier<Set<Integer>> committed) {
        this.broker = broker;
        this.gate = gate;
    }

    /**
     * Returns false if the gate reverts the change. The leader then returns to its former ISR
     * (Partition.sendAlterIsrRequest).
     */
    @Override public boolean submit(AlterIsrItem item) {
        Change change = new Change(item);
        gate.propose(broker, change);
        return !change.isReverted;
    }

    public void start() { }

    private static final class Change implements Proposal {
        private final AlterIsrItem item;
        private boolean isReverted;

        Change(AlterIsrItem item) {
            this.item = item;
        }

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

        @Override public void revert() {
            isReverted = true;
        }

        /**
         * Responds with an error. Partition submits the change again. The gate reverts that, so the first proposal
         * stays pending (Partition.sendAlterIsrRequest).
         */
        @Override public void fail(short error) {
            answer(new Left<>(Errors.forCode(error)));
        }

        @Override public void refuse() {
            answer(new Left<>(Errors.INVALID_UPDATE_VERSION));
        }

        private void answer(Either<Errors, LeaderAndIsr> answer) {
            item.callback().apply(answer);
        }
    }
}
