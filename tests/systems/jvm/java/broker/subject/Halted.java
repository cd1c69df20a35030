package subject;

/** Kafka's code wants the process to end. */
final class Halted extends RuntimeException {
    Halted(Throwable cause) {
        super(cause);
    }
}
