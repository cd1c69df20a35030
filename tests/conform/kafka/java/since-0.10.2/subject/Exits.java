package subject;

import java.security.Permission;

/**
 * Catches System.exit, by which a follower ends that may not truncate its log. Kafka has a class for that only since 0.11, so
 * it needs {@code -Djava.security.manager=allow}.
 */
@SuppressWarnings("removal")
final class Exits extends SecurityManager {
    private static final ThreadLocal<Boolean> CAUGHT = new ThreadLocal<>();  // null outside of Kafka's work

    private Exits() { }

    static void install() {
        if (!(System.getSecurityManager() instanceof Exits)) {
            System.setSecurityManager(new Exits());
        }
    }

    /** Runs work of Kafka's; throws Halted if it wanted to exit, whoever caught the exception by which it could not. */
    static void caught(Runnable work) {
        CAUGHT.set(false);
        try {
            work.run();
            if (CAUGHT.get()) {
                throw new Halted(null);
            }
        } finally {
            CAUGHT.remove();
        }
    }

    @Override public void checkExit(int status) {
        if (CAUGHT.get() != null) {
            CAUGHT.set(true);
            throw new SecurityException("exit " + status);
        }
    }

    @Override public void checkPermission(Permission permission) { }
}
