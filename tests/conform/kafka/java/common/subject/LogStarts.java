package subject;

import org.apache.kafka.common.errors.OffsetOutOfRangeException;

/** Raises the log start offset of a log. */
final class LogStarts {
    private LogStarts() { }

    /**
     * Returns whether Kafka raises the log start offset. Kafka rejects an offset beyond the high watermark, also if the
     * log does not know its high watermark yet.
     */
    static boolean raise(Runnable raising) {
        try {
            raising.run();
            return true;
        } catch (OffsetOutOfRangeException beyondHighWatermark) {
            return false;
        }
    }
}
