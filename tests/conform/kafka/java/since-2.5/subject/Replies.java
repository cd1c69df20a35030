package subject;

import org.apache.kafka.common.protocol.Errors;

/** Converts Kafka's errors for produce requests into replies. */
final class Replies {
    private Replies() { }

    static Reply of(Errors error) {
        return switch (error) {
            case NONE -> Reply.STORED;
            case OUT_OF_ORDER_SEQUENCE_NUMBER -> Reply.OUT_OF_SEQUENCE;
            default -> Reply.FAILED;
        };
    }
}
