package subject;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import kafka.utils.Scheduler;
import scala.Function0;
import scala.runtime.BoxedUnit;

/** A scheduler that runs undelayed tasks in {@link #runDue}. It never runs periodic or delayed tasks. */
final class FakeScheduler implements Scheduler {
    private final Queue<Function0<BoxedUnit>> due = new ArrayDeque<>();

    @Override public void schedule(
            String name, Function0<BoxedUnit> task, long delay, long period, TimeUnit unit) {
        if (period < 0 && delay <= 0) {
            due.add(task);
        }
    }

    void runDue() {
        while (!due.isEmpty()) {
            due.remove().apply();
        }
    }

    @Override public void startup() { }

    @Override public void shutdown() { }

    @Override public boolean isStarted() {
        return true;
    }
}
