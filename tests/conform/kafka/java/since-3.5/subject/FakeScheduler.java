package subject;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ScheduledFuture;
import org.apache.kafka.server.util.Scheduler;

/** A scheduler that runs undelayed tasks in {@link #runDue}. It never runs periodic or delayed tasks. */
final class FakeScheduler implements Scheduler {
    private final Queue<Runnable> due = new ArrayDeque<>();

    @Override public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
        if (periodMs < 0 && delayMs <= 0) {
            due.add(task);
        }
        return null;
    }

    void runDue() {
        while (!due.isEmpty()) {
            due.remove().run();
        }
    }

    @Override public void startup() { }

    @Override public void shutdown() { }

    @Override public void resizeThreadPool(int size) { }
}
