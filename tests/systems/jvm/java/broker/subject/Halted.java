package subject;

/** Kafka's code has asked to halt the process. */
final class Halted extends RuntimeException {
    Halted(Throwable cause) {
        super(cause);
    }
}
