package subject;

import org.apache.kafka.common.errors.OffsetOutOfRangeException;

/** Deletes the first records of a log. */
final class LogStarts {
    private LogStarts() { }

    /** Whether Kafka raises the log start. It refuses an offset beyond the high watermark, which a log may not know yet. */
    static boolean raise(Runnable raising) {
        try {
            raising.run();
            return true;
        } catch (OffsetOutOfRangeException beyondHighWatermark) {
            return false;
        }
    }
}
