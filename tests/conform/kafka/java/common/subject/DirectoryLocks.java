package subject;

import java.util.List;

/**
 * The file locks that a log manager holds on its directories. Each lock has an open file, and only the log manager's
 * shutdown releases them. The adapter abandons brokers without a shutdown, as if their processes had died. The
 * operating system would then have released the locks.
 */
final class DirectoryLocks {
    private DirectoryLocks() { }

    /** Releases the locks of a LogManager, whether its class is written in Scala or in Java. */
    static void release(Object logManager) {
        Object locks = Reflect.get(logManager, logManager.getClass(), "dirLocks");
        for (Object lock : locks instanceof List<?> list ? list : Scala.list((scala.collection.Iterable<?>) locks)) {
            try {
                lock.getClass().getMethod("destroy").invoke(lock);
            } catch (ReflectiveOperationException failed) {
                throw new IllegalStateException(failed);
            }
        }
    }
}
