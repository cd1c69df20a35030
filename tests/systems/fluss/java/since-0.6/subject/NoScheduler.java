package subject;

import java.lang.reflect.Proxy;
import java.util.concurrent.ScheduledFuture;
import org.apache.fluss.utils.concurrent.Scheduler;

/** What Fluss does every so often is an event here, or left out: expiring writers, taking metrics. */
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
