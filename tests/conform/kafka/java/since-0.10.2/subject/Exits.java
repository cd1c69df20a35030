package subject;

import java.security.Permission;

/**
 * Catches System.exit. A follower calls it if it must not truncate its log because unclean election is disabled. Kafka
 * has the class Exit only since 0.11, so this class needs {@code -Djava.security.manager=allow}.
 */
@SuppressWarnings("removal")
final class Exits extends SecurityManager {
    private static final ThreadLocal<Boolean> CAUGHT = new ThreadLocal<>();  // null outside of Kafka's code

    private Exits() { }

    static void install() {
        if (!(System.getSecurityManager() instanceof Exits)) {
            System.setSecurityManager(new Exits());
        }
    }

    /**
     * Runs Kafka's code. Throws Halted if the code called System.exit, even if it caught the exception that prevented
     * the exit.
     */
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
