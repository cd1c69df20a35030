package subject;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;

/** A timer that collects the operations that wait in a purgatory. Time never passes. */
final class FakeTimer implements Timer {
    private List<TimerTask> waiting = new ArrayList<>();

    @Override public void add(TimerTask task) {
        waiting.add(task);
    }

    /** Returns a Runnable that expires the operations that were added since the last call. */
    Runnable added() {
        List<TimerTask> added = waiting;
        waiting = new ArrayList<>();
        return () -> added.forEach(TimerTask::run);
    }

    @Override public boolean advanceClock(long timeoutMs) {
        return false;
    }

    @Override public int size() {
        return waiting.size();
    }

    @Override public void close() { }
}
