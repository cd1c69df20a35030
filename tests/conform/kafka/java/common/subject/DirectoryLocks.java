package subject;

import java.util.List;

/**
 * The locks that a log manager has on its directories, and with each an open file. Nothing but its shutdown gives them
 * back, and brokers here are abandoned, as by a process that dies, which would have lost them.
 */
final class DirectoryLocks {
    private DirectoryLocks() { }

    /** Gives back those of a LogManager, Scala's or Java's. */
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
