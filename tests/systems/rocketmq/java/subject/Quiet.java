package subject;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits until RocketMQ's threads have reached a condition. It never waits for a fixed time. */
final class Quiet {
    private static final long PATIENCE_NS = 30_000_000_000L;
    private static final long LOOK_NS = 20_000;

    private Quiet() { }

    static void await(BooleanSupplier condition, Supplier<String> what) {
        long end = System.nanoTime() + PATIENCE_NS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("timed out after 30 s: " + what.get());
            }
            LockSupport.parkNanos(LOOK_NS);
        }
    }
}
