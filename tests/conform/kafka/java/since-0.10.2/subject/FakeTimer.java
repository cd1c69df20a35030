package subject;

import java.util.ArrayList;
import java.util.List;
import kafka.utils.timer.Timer;
import kafka.utils.timer.TimerTask;

/** Takes what waits in a purgatory; no time passes here. */
final class FakeTimer implements Timer {
    private List<TimerTask> waiting = new ArrayList<>();

    @Override public void add(TimerTask task) {
        waiting.add(task);
    }

    /** What began to wait since this was called last. Running the result ends their time. */
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

    @Override public void shutdown() { }
}
