package subject;

import java.lang.reflect.Proxy;
import java.util.concurrent.ScheduledFuture;
import org.apache.fluss.utils.concurrent.Scheduler;

/**
 * A scheduler that runs no task. Fluss's periodic tasks are events here, or have no observable effect (expiring
 * writers, collecting metrics).
 */
final class NoScheduler implements Scheduler {
    private static final ScheduledFuture<?> CANCELLED = (ScheduledFuture<?>) Proxy.newProxyInstance(
            NoScheduler.class.getClassLoader(), new Class<?>[] {ScheduledFuture.class},
            (future, method, arguments) -> method.getName().equals("cancel"));

    @Override public void startup() { }

    @Override public void shutdown() { }

    @Override public ScheduledFuture<?> schedule(String name, Runnable command, long delayMs, long periodMs) {
        return CANCELLED;
    }
}
