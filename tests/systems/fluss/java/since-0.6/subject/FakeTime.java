package subject;

import org.apache.fluss.utils.clock.Clock;

/**
 * A clock that moves only between events. By default, it moves by more than log.replica.max-lag-time.
 *
 * <p>A Fluss leader, like a Kafka leader, holds its high watermark back for a replica outside the ISR that was caught
 * up within the lag time. The model has no time. With these leaps, no replica outside the ISR was caught up within the
 * lag time.
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
