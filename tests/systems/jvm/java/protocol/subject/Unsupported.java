package subject;

/** What was asked for is not to be had with this release; the message says what, and what to do. */
final class Unsupported extends RuntimeException {
    Unsupported(String message) {
        super(message);
    }
}
