package subject;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/**
 * A clock that moves only between events. By default, it moves by more than replica.lag.time.max.ms.
 *
 * <p>A Kafka leader holds its high watermark back for a replica outside the ISR that was caught up within the lag time.
 * The model has no time. With these leaps, no replica outside the ISR was caught up within the lag time.
 */
final class FakeTime implements Time {
    static final int LAG_MS = 30_000;
    private static final long START_MS = 1_600_000_000_000L;

    private long now = START_MS;

    void advance(int ms) {
        now += ms;
    }

    // The methods below have no @Override, because not every release has all of them.

    public long milliseconds() {
        return now;
    }

    public long hiResClockMs() {
        return now;
    }

    public long nanoseconds() {
        return now * 1_000_000;
    }

    public void sleep(long ms) { }

    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException("the clock moves only between events, so nothing may wait for it");
    }
}
