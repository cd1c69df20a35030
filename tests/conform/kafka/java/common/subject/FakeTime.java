package subject;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/**
 * A clock that only moves between events, and unless told otherwise by more than replica.lag.time.max.ms.
 *
 * <p>Kafka's leader holds its high watermark back for a replica outside the ISR that was caught up a short while ago.
 * The model knows no time; with such leaps nobody outside the ISR was caught up a short while ago.
 */
final class FakeTime implements Time {
    static final int LAG_MS = 30_000;
    private static final long START_MS = 1_600_000_000_000L;

    private long now = START_MS;

    void advance(int ms) {
        now += ms;
    }

    // No @Override from here on: not every release has every method.

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
        throw new UnsupportedOperationException("somebody waits for the clock, which moves between events only");
    }
}
