package subject;

/** The release does not support the requested configuration. The message says what is unsupported and what to do. */
final class Unsupported extends RuntimeException {
    Unsupported(String message) {
        super(message);
    }
}
