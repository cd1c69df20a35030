package subject;

import org.apache.fluss.utils.clock.Clock;

/**
 * A clock that only moves between events, and unless told otherwise by more than log.replica.max-lag-time.
 *
 * <p>A leader holds its high watermark back for a replica outside the ISR that was caught up a short while ago, as
 * Kafka's does. The model knows no time; with such leaps nobody outside the ISR was caught up a short while ago.
 */
final class FakeTime implements Clock {
    static final int LAG_MS = 30_000;
    private static final long START_MS = 1_600_000_000_000L;

    private long now = START_MS;

    void advance(int ms) {
        now += ms;
    }

    @Override public long milliseconds() {
        return now;
    }

    @Override public long nanoseconds() {
        return now * 1_000_000;
    }
}
